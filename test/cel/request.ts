// SPDX-License-Identifier: Apache-2.0

interface Some {
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly commonName?: string;
  readonly dnsNames?: readonly string[];
}

type Group = Readonly<Record<string, unknown>>;

/** The variables of one request, as src/ca/policy makes them. */
export function request(some: Some): { readonly csr: Group; readonly request: Group } {
  return {
    csr: {
      subject: { commonName: some.commonName ?? '', organizations: [], organizationalUnits: [] },
      dnsNames: some.dnsNames ?? [],
      ipAddresses: [],
      uris: [],
      emails: [],
      key: { type: 'ECDSA', size: 256 },
      keyType: 'ECDSAP256',
      usages: ['client auth'],
      extensions: ['2.5.29.17'],
      attributes: ['1.2.840.113549.1.9.14'],
    },
    request: {
      name: 'r',
      username: some.username ?? '',
      uid: '',
      groups: some.groups ?? [],
      extra: { scopes: ['a'] },
      expirationSeconds: 3600,
    },
  };
}
