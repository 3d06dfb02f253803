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
  ['pem/text/unused-bits', 'RFC 4648 §3.5: readers may, and no octet depends on them'],
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

const AS_IT_IS = 'OpenSSL opens it only when it is printed, so that it does not judge it';
const NAMES =
  'policy: two spellings of one name are one too many, and a name of nothing names nobody';
const LIMIT = 'limit: its cost must be bounded';
const KEYS = 'policy: Kubernetes knows no others';
const MEANING = 'RFC 5280 gives it no meaning, or another one than its readers do';

/** Certificates and texts that Go and OpenSSL both read and we refuse, with the reason. */
export const REFUSED_ALONE: ReadonlyMap<string, string> = new Map([
  ...['attribute-of-the-subject-missing', 'relative-name-empty', 'extended-key-usage-empty'].map(
    (name) => [`certificate/framing/${name}`, MEANING] as const,
  ),
  [
    'certificate/subject/unsorted-set',
    'a CA’s name is copied into its leaves, where it would not be DER',
  ],
  ...['type-huge', 'ten-thousand'].map((name) => [`certificate/subject/${name}`, LIMIT] as const),
  ...['version-1', 'version-1-written'].map(
    (name) => [`certificate/field/${name}`, 'policy: it cannot say that it is no CA'] as const,
  ),
  ...['key-x25519', 'key-p-224'].map((name) => [`certificate/field/${name}`, KEYS] as const),
  ...['trailing', 'constructed-dns'].map(
    (name) => [`certificate/alternative-names/${name}`, AS_IT_IS] as const,
  ),
  ...[
    'dns-empty',
    'dns-nul',
    'dns-newline',
    'email-empty',
    'email-nul',
    'uri-empty',
    'uri-relative',
    'uri-no-host',
    'uri-userinfo',
    'uri-dot-segments',
    'uri-fragment',
    'uri-query',
  ].map((name) => [`certificate/alternative-names/${name}`, NAMES] as const),
  ['certificate/alternative-names/thousand-and-one', LIMIT],
  ...['purposes-65'].map((name) => [`certificate/limits/${name}`, LIMIT] as const),
  ...[
    'key-usage-10th-bit',
    'key-usage-trailing',
    'purposes-none',
    'purposes-trailing',
    'constraints-two-ats',
    'constraints-minimum',
  ].map((name) => [`certificate/limits/${name}`, MEANING] as const),
  ...[
    'subject-key-id-none',
    'subject-key-id-long',
    'policies-none',
    'mappings-none',
    'inhibit-any-negative',
    'points-none',
    'information-none',
    'information-no-location',
  ].map((name) => [`certificate/others/${name}`, MEANING] as const),
  ['certificate/others/huge-oid', LIMIT],
  ['pem/text/two', 'Go reads the first of them, and a reader that goes on the last'],
]);
