// SPDX-License-Identifier: Apache-2.0

/** Everything that a leaf says of its holder, in canonical form. Nothing else gets in. */
export interface LeafSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly organizationalUnits: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
  readonly emails: readonly string[];
}

export const EMPTY_SUBJECT: LeafSubject = Object.freeze({
  commonName: '',
  organizations: [],
  organizationalUnits: [],
  dnsNames: [],
  ipAddresses: [],
  uris: [],
  emails: [],
});

/** Neither a subject nor a SAN: a leaf that names nobody. */
export function namesNobody(subject: LeafSubject): boolean {
  return Object.values(subject).every((value: string | readonly string[]) => value.length === 0);
}
