// SPDX-License-Identifier: Apache-2.0

const OTHERS_NAMES =
  'the certificate of another CA: its names are compared as they are; requests with it are refused';

const FORM = 'form alone: Go and OpenSSL read it as its twin in DER, and no leaf copies it';

/** What is wrong and taken all the same, with the reason. Go takes all of it, too. */
export const TAKEN: ReadonlyMap<string, string> = new Map([
  ['certificate/field/serial-zero', 'RFC 5280 §4.1.2.2: users should be prepared for it'],
  [
    'certificate/field/subject-empty',
    'RFC 5280 §4.2.1.6 binds CAs: a lint holds our own leaves to it',
  ],
  ['certificate/framing/value-of-a-name-empty', OTHERS_NAMES],
  [
    'request/framing/value-of-a-name-empty',
    'the agents of Istio’s sidecars ask with one; the request is read without it, and no leaf has it',
  ],
  ...[
    'certificate/field/serial-20-and-zero',
    'certificate/field/serial-21-octets',
    'certificate/limits/key-usage-trailing-zeros',
    'certificate/limits/written-default',
    'certificate/others/written-default-criticality',
    'certificate/time/generalized-before-2050',
    'request/framing/signature-algorithm-trailing',
    'request/limits/key-usage-trailing-zeros',
    'request/limits/written-default',
    'request/others/written-default-criticality',
    'request/signature/ecdsa-null',
  ].map((name) => [name, FORM] as const),
  ...['postamble', 'preamble', 'vertical-tab-between'].map(
    (name) => [`pem/text/${name}`, 'RFC 7468 §2: readers skip text around the block'] as const,
  ),
  ...[
    'dns-blank',
    'dns-comma',
    'dns-quote',
    'dns-leading-dot',
    'dns-trailing-dot',
    'dns-double-dot',
    'dns-long-label',
    'dns-long-name',
    'dns-inner-wildcard',
    'dns-two-wildcards',
    'dns-upper-case',
    'dns-hyphen',
    'dns-address',
    'email-no-at',
    'email-two-ats',
    'email-no-domain',
    'email-phrase',
    'email-quoted',
    'ip-mapped',
  ].map((name) => [`certificate/alternative-names/${name}`, OTHERS_NAMES] as const),
]);

/** What we take and `openssl verify -x509_strict` does not, with the reason. */
export const OPENSSL_REFUSES: ReadonlyMap<string, string> = new Map([
  [
    'certificate/field/no-extensions',
    '-x509_strict wants key identifiers, which RFC 5280 §4.2.1.1 asks of CAs, not of verifiers',
  ],
  [
    'certificate/field/subject-empty',
    'RFC 5280 §4.2.1.6 binds CAs: a lint holds our own leaves to it',
  ],
]);
