// SPDX-License-Identifier: Apache-2.0
/** The file of a ceremony as a person writes it, whose parts tests replace. */

type Fields = Readonly<Record<string, unknown>>;

export const ROOT: Fields = {
  keyType: 'ECDSAP256',
  subject: { commonName: 'Example Root', organizations: ['Example'] },
  notBefore: '2027-01-01T00:00:00Z',
  notAfter: '2047-01-01T00:00:00Z',
  pathLength: 1,
};

export const INTERMEDIATE: Fields = {
  key: { file: 'intermediate.key', type: 'ECDSAP256' },
  certificate: 'intermediate.crt',
  subject: { commonName: 'Example Intermediate' },
  notBefore: '2027-01-01T00:00:00Z',
  notAfter: '2029-01-01T00:00:00Z',
  every: '8760h',
  pathLength: 0,
};

export const CROSS: Fields = {
  of: 'other.crt',
  certificate: 'cross.crt',
  notBefore: '2027-01-01T00:00:00Z',
  notAfter: '2029-01-01T00:00:00Z',
  pathLength: 0,
};

export const CRL: Fields = {
  file: 'root.crl',
  first: true,
  thisUpdate: '2027-01-01T00:00:00Z',
  nextUpdate: '2028-01-01T00:00:00Z',
};

/** A ceremony with the sections given, and the CA that signs. */
export function ceremonyOf(sections: Fields = {}): Fields {
  return {
    apiVersion: 'ceremony.countersign.dev/v1alpha1',
    kind: 'Ceremony',
    present: [
      { name: 'Ada Example', role: 'key holder' },
      { name: 'Grace Example', role: 'witness' },
    ],
    ca: { key: { file: 'root.key' }, certificate: 'root.crt' },
    ...sections,
  };
}

/** A section with some fields replaced, and without those that are undefined. */
export function changed(section: Fields, fields: Fields): Fields {
  const merged = { ...section, ...fields };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}
