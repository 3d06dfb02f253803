// SPDX-License-Identifier: Apache-2.0
import type { RequestProfile } from '#ca/policy/violations/violation.ts';
import { TRUE, bits, explicit, extension, implicit, oid, seq, tlv } from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { CN, O, OU, type Wanted } from './request.ts';

export const PROFILE: RequestProfile = {
  keyTypes: ['ECDSAP256', 'ED25519'],
  usages: ['digital signature', 'client auth'],
  copy: ['commonName', 'organizations', 'dnsNames'],
};

export const KEY_USAGE = '2.5.29.15';
export const BASIC_CONSTRAINTS = '2.5.29.19';

export interface ViolationRow {
  /** The function in src/ca/policy/violations. */
  readonly rule: string;
  readonly law: string;
  readonly wanted: Wanted;
  readonly reason: string;
  readonly message: RegExp;
  readonly profile?: RequestProfile;
}

const reserved = (law: string, subject: Wanted['subject'], shown: string): ViolationRow => ({
  rule: 'reservedSubject',
  law,
  wanted: { subject: subject ?? [] },
  reason: 'ReservedSubject',
  message: new RegExp(
    `^the subject contains ${shown}: names that begin with system:, kubeadm:, oidc: are reserved and never signed$`,
  ),
});

export const VIOLATION_ROWS: readonly ViolationRow[] = [
  reserved(
    'the organization system:masters is refused',
    [
      [O, 'system:masters'],
      [CN, 'jane'],
    ],
    '"system:masters"',
  ),
  reserved(
    'the organization kubeadm:cluster-admins is refused',
    [
      [O, 'dev'],
      [O, 'kubeadm:cluster-admins'],
      [CN, 'jane'],
    ],
    '"kubeadm:cluster-admins"',
  ),
  reserved('the common name of a node is refused', [[CN, 'system:node:a']], '"system:node:a"'),
  reserved(
    'case does not hide a reserved name',
    [
      [O, 'SyStEm:Masters'],
      [CN, 'jane'],
    ],
    '"SyStEm:Masters"',
  ),
  reserved(
    'a leading space does not hide a reserved name',
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
  reserved(
    'a prefix that the installation reserves is refused',
    [[CN, 'oidc:jane']],
    '"oidc:jane"',
  ),
  reserved(
    'the message names every reserved value',
    [
      [O, 'system:masters'],
      [CN, 'kubeadm:x'],
    ],
    '"system:masters", "kubeadm:x"',
  ),
  {
    rule: 'userIdAttribute',
    law: 'an attribute that sets the UID of a user is refused',
    wanted: {
      subject: [
        [CN, 'jane'],
        ['1.3.6.1.4.1.57683.2', '42'],
      ],
    },
    reason: 'UserIdAttribute',
    message:
      /^the subject contains the attribute 1\.3\.6\.1\.4\.1\.57683\.2, which the API server reads as the user's UID/,
  },
  {
    rule: 'certificateAuthority',
    law: 'a request for a CA certificate is refused',
    wanted: { extensions: [extension(BASIC_CONSTRAINTS, seq(TRUE), true)] },
    reason: 'CertificateAuthority',
    message: /^the request is for a CA certificate \(basicConstraints with cA TRUE\)/,
  },
  {
    rule: 'certificateSigning',
    law: 'cert sign is refused in spec.usages',
    wanted: { usages: ['client auth', 'cert sign'] },
    reason: 'ForbiddenUsage',
    message:
      /^spec\.usages contains "cert sign"; no signer issues leaf certificates with cert sign, crl sign, any$/,
  },
  {
    rule: 'certificateSigning',
    law: 'any is refused in spec.usages',
    wanted: { usages: ['any'] },
    reason: 'ForbiddenUsage',
    message: /^spec\.usages contains "any"/,
  },
  {
    rule: 'certificateSigning',
    law: 'cert sign and crl sign are refused in the keyUsage extension',
    wanted: { extensions: [extension(KEY_USAGE, bits([0x86], 1), true)] },
    reason: 'ForbiddenUsage',
    message: /^the request's keyUsage extension contains keyCertSign, cRLSign/,
  },
  {
    rule: 'malformedName',
    law: 'a DNS name with capitals is refused',
    wanted: { dnsNames: ['A.example.com'] },
    reason: 'MalformedName',
    message: /^the DNS name "A\.example\.com" is not in canonical form; write "a\.example\.com"$/,
  },
  {
    rule: 'malformedName',
    law: 'a DNS name with an empty label is refused',
    wanted: { dnsNames: ['a..example.com'] },
    reason: 'MalformedName',
    message: /a\.\.example\.com/,
  },
  {
    rule: 'malformedName',
    law: 'a SPIFFE ID with a dot-dot segment is refused',
    wanted: { uris: ['spiffe://td/ns/a/../b'] },
    reason: 'MalformedName',
    message: /spiffe:\/\/td\/ns\/a\/\.\.\/b/,
  },
  {
    rule: 'malformedName',
    law: 'an IPv4-mapped IPv6 address is refused',
    wanted: { ipAddresses: [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1]] },
    reason: 'MalformedName',
    message: /mapped/,
  },
  {
    rule: 'malformedName',
    law: 'a common name with a leading space is refused',
    wanted: { subject: [[CN, ' jane']] },
    reason: 'MalformedName',
    message: /^the subject has " jane": a name begins and ends with a visible character/,
  },
  {
    rule: 'malformedName',
    law: 'a common name with an invisible character is refused',
    wanted: { subject: [[CN, 'ja\u202ene']] },
    reason: 'MalformedName',
    message: /no control, invisible or format characters$/,
  },
  {
    rule: 'nameKinds',
    law: 'a SAN of a type that rules do not cover is refused',
    wanted: { otherNames: [tlv(0x88, [0x2a, 0x03])] },
    reason: 'UnknownNameKind',
    message:
      /^1 of the subject alternative names are of an unsupported type; request only DNS names, IP addresses, URIs and email addresses$/,
  },
  {
    rule: 'unsupportedSubject',
    law: 'an attribute that no leaf gets is refused where the leaf must have all of the subject',
    wanted: {
      subject: [
        ['2.5.4.5', '7'],
        [CN, 'jane'],
      ],
    },
    profile: { ...PROFILE, isWhole: true },
    reason: 'UnsupportedSubject',
    message:
      /^the subject contains serialNumber \(2\.5\.4\.5\), .*remove spec\.subject\.serialNumber from/,
  },
  {
    rule: 'criticalExtensions',
    law: 'an unknown critical extension is refused',
    wanted: { extensions: [extension('1.2.3.4', oid('1.2.3'), true)] },
    reason: 'UnknownCriticalExtension',
    message: /^the request marks "1\.2\.3\.4" critical/,
  },
  {
    rule: 'criticalExtensions',
    law: 'critical name constraints, which belong in CA certificates, are refused',
    wanted: {
      extensions: [extension('2.5.29.30', seq(explicit(0, seq(implicit(2, [0x61])))), true)],
    },
    reason: 'UnknownCriticalExtension',
    message: /"2\.5\.29\.30"/,
  },
  {
    rule: 'keyType',
    law: 'a key type outside the profile is refused, and the message lists the accepted ones',
    wanted: { key: privateKey('RSA-2048') },
    reason: 'UnsupportedKeyType',
    message: /^the key is RSA2048; this signer accepts ECDSAP256, ED25519$/,
  },
  {
    rule: 'weakKey',
    law: 'a weak key is refused',
    wanted: { key: privateKey('RSA-1024') },
    reason: 'WeakKey',
    message: /RSA key/,
  },
  {
    rule: 'usages',
    law: 'a usage outside the profile is refused, and the message lists the allowed ones',
    wanted: { usages: ['client auth', 'server auth', 'no such usage'] },
    reason: 'UsageNotAllowed',
    message:
      /^spec\.usages contains "server auth", "no such usage"; this signer allows digital signature, client auth: request only these, or add the others to spec\.profile\.usages of the signer$/,
  },
  {
    rule: 'usages',
    law: 'a usage outside the profile that an RSA key can have is refused',
    wanted: { key: privateKey('RSA-2048'), usages: ['digital signature', 'key encipherment'] },
    reason: 'UsageNotAllowed',
    message:
      /^spec\.usages contains "key encipherment"; .* to spec\.profile\.usages of the signer$/,
  },
  {
    rule: 'usages',
    law: 'usages that the key cannot have are no usages',
    wanted: { usages: ['key encipherment', 'data encipherment'] },
    reason: 'UsageNotAllowed',
    message:
      /^spec\.usages contains only "key encipherment", "data encipherment", which an ECDSA key cannot have; request some of digital signature, client auth$/,
  },
  {
    rule: 'usages',
    law: 'without a purpose, a leaf is valid for every purpose: a profile must have both of TLS',
    wanted: { usages: ['digital signature'] },
    reason: 'UsageNotAllowed',
    message:
      /^spec\.usages has no purpose, .* every purpose, also server auth: request client auth as well$/,
  },
  {
    rule: 'usages',
    law: 'a purpose that is none of TLS does not permit a leaf without a purpose',
    wanted: { usages: ['digital signature'] },
    reason: 'UsageNotAllowed',
    message: /also client auth and server auth: request code signing as well$/,
    profile: { ...PROFILE, usages: ['digital signature', 'code signing'] },
  },
  {
    rule: 'malformedName',
    law: 'every malformed name is in the message, not the first alone',
    wanted: {
      subject: [[CN, ' jane']],
      dnsNames: ['*.vault-internal', 'ok.example.com', '*.vault', 'A.example.com'],
      emails: ['a@B.example'],
    },
    reason: 'MalformedName',
    message:
      /^the subject has " jane": .*; the DNS name "\*\.vault-internal" .*; the DNS name "\*\.vault" .*; the DNS name "A\.example\.com" .*; the email address "a@B\.example" [^;]*; write "a@b\.example"$/,
  },
  {
    rule: 'noCopiedName',
    law: 'a request without any name is refused',
    wanted: { subject: [] },
    reason: 'NoIdentity',
    message: /: the request contains no name; request one$/,
  },
  {
    rule: 'usages',
    law: 'a request without usages is refused',
    wanted: { usages: [] },
    reason: 'UsageNotAllowed',
    message: /^spec\.usages is empty; /,
  },
  {
    rule: 'noCopiedName',
    law: 'a request without any of the copied fields is refused',
    wanted: { subject: [[OU, 'x']], emails: ['j@example.com'] },
    reason: 'NoIdentity',
    message:
      /^the certificate would have neither a subject nor a subject alternative name: this signer copies commonName, organizations, dnsNames from a request, and this request has none of them; add organizationalUnits, emails to spec\.requests\.copy of the signer$/,
  },
  {
    rule: 'noCopiedName',
    law: 'every request is refused where the signer copies nothing',
    wanted: {},
    profile: { ...PROFILE, copy: [] },
    reason: 'NoIdentity',
    message:
      /: this signer copies no names from requests; add commonName to spec\.requests\.copy of the signer$/,
  },
];
