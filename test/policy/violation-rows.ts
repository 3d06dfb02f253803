// SPDX-License-Identifier: Apache-2.0
import type { RequestProfile } from '../../src/policy/violations/violation.ts';
import { TRUE, bits, explicit, extension, implicit, oid, seq, tlv } from '../support/pki/der.ts';
import { privateKey } from '../support/pki/keys.ts';
import { CN, O, OU, type Wanted } from './request.ts';

export const PROFILE: RequestProfile = {
  keyTypes: ['ECDSAP256', 'ED25519'],
  usages: ['digital signature', 'client auth'],
  copy: ['commonName', 'organizations', 'dnsNames'],
};

export const KEY_USAGE = '2.5.29.15';
export const BASIC_CONSTRAINTS = '2.5.29.19';

export interface RefusalRow {
  /** The file in src/policy/rules. */
  readonly rule: string;
  readonly law: string;
  readonly wanted: Wanted;
  readonly reason: string;
  readonly message: RegExp;
  readonly profile?: RequestProfile;
}

const reserved = (law: string, subject: Wanted['subject'], shown: string): RefusalRow => ({
  rule: 'reserved-subject',
  law,
  wanted: { subject: subject ?? [] },
  reason: 'ReservedSubject',
  message: new RegExp(
    `^the subject has ${shown}: names that begin with system:, kubeadm:, oidc: are never signed$`,
  ),
});

export const REFUSAL_ROWS: readonly RefusalRow[] = [
  reserved(
    'system:masters is an organization for nobody',
    [
      [O, 'system:masters'],
      [CN, 'jane'],
    ],
    '"system:masters"',
  ),
  reserved(
    'kubeadm:cluster-admins is an organization for nobody',
    [
      [O, 'dev'],
      [O, 'kubeadm:cluster-admins'],
      [CN, 'jane'],
    ],
    '"kubeadm:cluster-admins"',
  ),
  reserved('a node’s common name is reserved', [[CN, 'system:node:a']], '"system:node:a"'),
  reserved(
    'case does not hide a reserved name',
    [
      [O, 'SyStEm:Masters'],
      [CN, 'jane'],
    ],
    '"SyStEm:Masters"',
  ),
  reserved(
    'a blank before it does not hide a reserved name',
    [
      [O, ' system:masters'],
      [CN, 'jane'],
    ],
    '" system:masters"',
  ),
  reserved(
    'an invisible character does not hide a reserved name',
    [
      [O, 'sys\u200btem:masters'],
      [CN, 'jane'],
    ],
    String.raw`"sys\\u\{200b\}tem:masters"`,
  ),
  reserved('prefixes of the installation are reserved too', [[CN, 'oidc:jane']], '"oidc:jane"'),
  reserved(
    'both places are told',
    [
      [O, 'system:masters'],
      [CN, 'kubeadm:x'],
    ],
    '"system:masters", "kubeadm:x"',
  ),
  {
    rule: 'user-id-attribute',
    law: 'nobody chooses the UID that the API server reads',
    wanted: {
      subject: [
        [CN, 'jane'],
        ['1.3.6.1.4.1.57683.2', '42'],
      ],
    },
    reason: 'UserIdAttribute',
    message: /^the subject has the attribute 1\.3\.6\.1\.4\.1\.57683\.2, from which the API server/,
  },
  {
    rule: 'certificate-authority',
    law: 'nobody becomes a CA',
    wanted: { extensions: [extension(BASIC_CONSTRAINTS, seq(TRUE), true)] },
    reason: 'CertificateAuthority',
    message: /^the request asks to be a CA \(basicConstraints with cA TRUE\)/,
  },
  {
    rule: 'certificate-signing',
    law: 'cert sign is refused in spec.usages',
    wanted: { usages: ['client auth', 'cert sign'] },
    reason: 'ForbiddenUsage',
    message: /^spec\.usages has "cert sign": no leaf gets cert sign, crl sign, any$/,
  },
  {
    rule: 'certificate-signing',
    law: 'any is refused in spec.usages',
    wanted: { usages: ['any'] },
    reason: 'ForbiddenUsage',
    message: /^spec\.usages has "any"/,
  },
  {
    rule: 'certificate-signing',
    law: 'cert sign and crl sign are refused in the keyUsage extension',
    wanted: { extensions: [extension(KEY_USAGE, bits([0x86], 1), true)] },
    reason: 'ForbiddenUsage',
    message: /^its keyUsage extension has keyCertSign, cRLSign/,
  },
  {
    rule: 'malformed-name',
    law: 'a DNS name has one spelling',
    wanted: { dnsNames: ['A.example.com'] },
    reason: 'MalformedName',
    message: /^the DNS name "A\.example\.com" is not in canonical form; write "a\.example\.com"$/,
  },
  {
    rule: 'malformed-name',
    law: 'a DNS name is one at all',
    wanted: { dnsNames: ['a..example.com'] },
    reason: 'MalformedName',
    message: /a\.\.example\.com/,
  },
  {
    rule: 'malformed-name',
    law: 'a SPIFFE ID has no dot-dot segment',
    wanted: { uris: ['spiffe://td/ns/a/../b'] },
    reason: 'MalformedName',
    message: /spiffe:\/\/td\/ns\/a\/\.\.\/b/,
  },
  {
    rule: 'malformed-name',
    law: 'an IPv4 address is not written as IPv6',
    wanted: { ipAddresses: [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1]] },
    reason: 'MalformedName',
    message: /mapped/,
  },
  {
    rule: 'malformed-name',
    law: 'a common name does not begin with a blank',
    wanted: { subject: [[CN, ' jane']] },
    reason: 'MalformedName',
    message: /^the subject has " jane": a name begins and ends with a visible character/,
  },
  {
    rule: 'malformed-name',
    law: 'a common name has no characters that nobody sees',
    wanted: { subject: [[CN, 'ja\u202ene']] },
    reason: 'MalformedName',
    message: /no control, invisible or format characters$/,
  },
  {
    rule: 'name-kinds',
    law: 'SANs of other kinds are refused',
    wanted: { otherNames: [tlv(0x88, [0x2a, 0x03])] },
    reason: 'UnknownNameKind',
    message:
      /^1 of the subject alternative names are neither DNS names, IP addresses, URIs nor emails/,
  },
  {
    rule: 'critical-extensions',
    law: 'a critical extension that nobody here knows is refused',
    wanted: { extensions: [extension('1.2.3.4', oid('1.2.3'), true)] },
    reason: 'UnknownCriticalExtension',
    message: /^the request marks "1\.2\.3\.4" critical/,
  },
  {
    rule: 'critical-extensions',
    law: 'critical name constraints are a CA’s and refused',
    wanted: {
      extensions: [extension('2.5.29.30', seq(explicit(0, seq(implicit(2, [0x61])))), true)],
    },
    reason: 'UnknownCriticalExtension',
    message: /"2\.5\.29\.30"/,
  },
  {
    rule: 'key-type',
    law: 'a key type outside the profile is refused, and the message names those that work',
    wanted: { key: privateKey('RSA-2048') },
    reason: 'UnsupportedKeyType',
    message: /^the key is RSA2048; this signer takes ECDSAP256, ED25519$/,
  },
  {
    rule: 'weak-key',
    law: 'a weak key is refused',
    wanted: { key: privateKey('RSA-1024') },
    reason: 'WeakKey',
    message: /RSA key/,
  },
  {
    rule: 'usages',
    law: 'a usage outside the profile is refused, and the message names those inside',
    wanted: { usages: ['client auth', 'server auth', 'no such usage'] },
    reason: 'UsageNotAllowed',
    message:
      /^spec\.usages has "server auth", "no such usage"; this signer allows digital signature, client auth$/,
  },
  {
    rule: 'usages',
    law: 'a request without usages is refused',
    wanted: { usages: [] },
    reason: 'UsageNotAllowed',
    message: /^spec\.usages is empty; /,
  },
  {
    rule: 'names-nobody',
    law: 'a leaf that would name nobody is refused',
    wanted: { subject: [[OU, 'x']], emails: ['j@example.com'] },
    reason: 'NamesNobody',
    message:
      /^a leaf takes commonName, organizations, dnsNames of a request \(spec\.requests\.copy\), and this request has none of it$/,
  },
  {
    rule: 'names-nobody',
    law: 'where nothing is copied, nobody is named',
    wanted: {},
    profile: { ...PROFILE, copy: [] },
    reason: 'NamesNobody',
    message: /^a leaf takes nothing of a request/,
  },
];
