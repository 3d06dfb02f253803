// SPDX-License-Identifier: Apache-2.0
import type { ErrorCode } from '#base/errors.ts';
import { keysOf } from '#base/object-keys.ts';

/** Something that we refuse although Go takes it. */
export interface Strictness {
  readonly code: ErrorCode;
  /** Matches the message of the refusal. */
  readonly says: RegExp;
  readonly what: string;
  readonly why: string;
  readonly because: Because;
}

/** The reasons that count. Form alone is none. */
export const BECAUSE = {
  differs: 'Readers read it in different ways, or some do not read it at all',
  unread: 'Go or OpenSSL never open it, so that they do not show how others read it',
  policy: 'It is readable, and Countersign or Kubernetes decides against it',
  limit: 'Its cost must be bounded',
} as const;

export type Because = keyof typeof BECAUSE;

const UNREAD =
  'Go opens only what it uses, of a request’s extensions only subjectAltName; we use none of it unread';
const FIELDS = 'X.680 §25: Go leaves it unread, other readers may not';

/** By the order of the rows: the first that matches counts. */
export const STRICTNESS: readonly Strictness[] = [
  {
    code: 'DER_MALFORMED',
    says: /has trailing bytes/,
    what: 'something follows the last field of a value',
    why: FIELDS,
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /name of an unknown kind/,
    what: 'a subjectAltName has a kind of name that does not exist',
    why: 'RFC 5280 §4.2.1.6: Go ignores it',
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /is not a character string|is not a valid|of the subject is missing|of the issuer is missing/,
    what: 'an attribute of a Name is no text, or no text of its type',
    why: 'RFC 5280 §4.1.2.4: Go keeps any value of a request; a policy compares texts',
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /not in ascending order/,
    what: 'a relative name is not in ascending order',
    why: 'X.690 §11.6: a CA’s name is copied into its leaves, and readers compare names by octets',
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /keyUsage/,
    what: 'keyUsage has no bit, unknown bits, or unused bits that are set',
    why: 'Go rejects unused bits and takes no bit for every usage; OpenSSL ignores the first and permits nothing for the second',
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /basicConstraints/,
    what: 'basicConstraints is not DER, or has a path length without CA',
    why: 'RFC 5280 §4.2.1.9: of a path length without CA readers make different things',
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /name constraint|nameConstraints/,
    what: 'nameConstraints cannot be compared',
    why: `RFC 5280 §4.2.1.10; in requests: ${UNREAD}`,
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /KeyIdentifier/,
    what: 'a key identifier is empty, longer than a digest, or half an issuer and serial',
    why: 'RFC 5280 §4.2.1.1, appendix A.2',
    because: 'unread',
  },
  {
    code: 'DER_MALFORMED',
    says: /is critical, which/,
    what: 'an extension is critical that never may be',
    why: `RFC 5280 §4.2; in requests: ${UNREAD}`,
    because: 'unread',
  },
  {
    code: 'DER_MALFORMED',
    says: /neither 00 nor ff/,
    what: 'a BOOLEAN is neither 00 nor FF',
    why: 'X.690 §11.1: Go rejects it, OpenSSL takes it for TRUE',
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /occurs twice/,
    what: 'an extension or a policy occurs twice',
    why: 'RFC 5280 §4.2: it depends on the reader which counts',
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /is empty|are empty|has no names|extensions is missing/,
    what: 'a list has no member although it must',
    why: 'RFC 5280 §4.1, §4.2.1',
    because: 'unread',
  },
  {
    code: 'DER_MALFORMED',
    says: /of version|the version/,
    what: 'a certificate is not of version 3, or a request not of version 1',
    why: 'RFC 5280 §4.1.2.1, RFC 2986 §4.1: earlier certificates cannot say that they are no CA',
    because: 'policy',
  },
  {
    code: 'DER_MALFORMED',
    says: /notBefore|notAfter/,
    what: 'a time has an offset or no seconds',
    why: 'RFC 5280 §4.1.2.5: Go reads it, OpenSSL does not',
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /whole number of bytes|empty BIT STRING/,
    what: 'a key or a signature is no whole number of octets',
    why: 'RFC 5480 §2.2, RFC 5280 §4.1.1.3',
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /signature algorithm of the certificate differ/,
    what: 'the two algorithms of a certificate differ',
    why: 'RFC 5280 §4.1.1.2',
    because: 'differs',
  },
  {
    code: 'DER_MALFORMED',
    says: /has tag 0x|is missing|is cut off|longer than the element that holds|indefinite length|a length field of more than|length that is not minimal|tag number above|arc that is not minimal|ends in the middle|INTEGER|is negative|is more than|is not a BIT STRING/,
    what: 'a value inside an attribute or an extension is not DER',
    why: UNREAD,
    because: 'unread',
  },
  {
    code: 'DER_LIMIT',
    says: /./,
    what: 'a size or a count is above a limit',
    why: 'own limits, each named in src/pki with its reason: cost must be bounded',
    because: 'limit',
  },
  {
    code: 'REQUEST_MALFORMED',
    says: /occurs twice/,
    what: 'a request has an attribute twice',
    why: 'it depends on the reader which counts',
    because: 'differs',
  },
  {
    code: 'REQUEST_MALFORMED',
    says: /the subject of the PKCS#10 request has/,
    what: 'a subject has a type twice, several types in one relative name, an empty value that is no organization, a control character, or a character set that readers differ on',
    why: 'what a policy approves must be what every reader of the leaf sees',
    because: 'policy',
  },
  {
    code: 'REQUEST_SIGNATURE',
    says: /algorithm/,
    what: 'a signature is by SHA-1, or its algorithm has parameters other than NULL or those of its RFC',
    why: 'RFC 9155; RFC 4055 §5, RFC 5758 §3.2',
    because: 'policy',
  },
  {
    code: 'REQUEST_SIGNATURE',
    says: /does not verify/,
    what: 'Go verifies a signature by an Ed25519 key of small order, OpenSSL does not',
    why: 'RFC 8032 §5.1.7 leaves it open; such a key has no secret',
    because: 'differs',
  },
  {
    code: 'NAME_INVALID',
    says: /./,
    what: 'a name is empty or not ASCII, has control characters, or is not in its one canonical spelling',
    why: 'two spellings of one name are one too many for a policy',
    because: 'policy',
  },
  {
    code: 'KEY_UNSUPPORTED',
    says: /./,
    what: 'a key is not RSA, P-256, P-384, P-521, Ed25519 or a CA’s ML-DSA-65, or its exponent is above 31 bits',
    why: 'Kubernetes knows no others',
    because: 'policy',
  },
  {
    code: 'KEY_MALFORMED',
    says: /./,
    what: 'a key is none',
    why: 'Go checks it when it is used, we when it is read',
    because: 'differs',
  },
  {
    code: 'KEY_WEAK',
    says: /./,
    what: 'a key can be broken',
    why: 'CA/B BR §6.1.6, NIST SP 800-89 §5.3.3',
    because: 'policy',
  },
  {
    code: 'PEM_MALFORMED',
    says: /./,
    what: 'a text has two blocks where one is read, a block with headers or of another label, a byte order mark before it, a run of five dashes beside it, a NUL, or bad base64',
    why: 'RFC 7468 §3: one reader takes the first block and another the last, or they find none',
    because: 'differs',
  },
  {
    code: 'PATH_INVALID',
    says: /more than 8 CAs|more than 64 signatures/,
    what: 'a chain is longer than 8 CAs, or has more than 64 signatures to try, or 8 when the CA of a Signer is opened',
    why: 'own limits: a search must end (CVE-2018-16875)',
    because: 'limit',
  },
  {
    code: 'PATH_INVALID',
    says: /outside a CA’s name constraints|constraints of kinds/,
    what: 'a name is outside the constraints of a CA as RFC 5280 reads them',
    why: 'RFC 5280 §4.2.1.10: a URI or mail constraint without a dot is one host, a mapped address is of two families',
    because: 'policy',
  },
  {
    code: 'PATH_INVALID',
    says: /does not allow the purpose/,
    what: 'a CA has a purpose less than its leaf',
    why: 'RFC 5280 §4.2.1.12: verifiers check one purpose at a time, Countersign issues for all',
    because: 'policy',
  },
  {
    code: 'PATH_INVALID',
    says: /RSA key of/,
    what: 'a CA has an RSA key below 2,048 bits',
    why: 'NIST SP 800-57',
    because: 'policy',
  },
  {
    code: 'PATH_INVALID',
    says: /issued|is not a CA/,
    what: 'a leaf is its own anchor',
    why: 'RFC 5280 §6.1: an anchor is a CA',
    because: 'policy',
  },
  {
    code: 'PATH_INVALID',
    says: /critical extension|requires a certificate policy/,
    what: 'a CA has policyConstraints that are critical or require a policy of each leaf',
    why: 'RFC 5280 §4.2.1.11: Go looks for the policy in the leaf, and we issue none with one',
    because: 'policy',
  },
];

/** The row of a refusal, `CODE: message`; undefined where nobody has written why. */
export function strictnessOf(refusal: string): Strictness | undefined {
  const [code = ''] = refusal.split(': ', 1);
  return STRICTNESS.find((each) => each.code === code && each.says.test(refusal));
}

/** How often each row was the reason, for the report of a run. */
export function countRows(stricter: ReadonlyMap<string, number>): readonly string[] {
  const counts = new Map<Strictness, number>();
  for (const [refusal, count] of stricter) {
    const row = strictnessOf(refusal);
    if (row !== undefined) counts.set(row, (counts.get(row) ?? 0) + count);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([{ code, what }, count]) => `${count} × ${code}: ${what}`);
}

/** The lists of docs/reference/strictness.md, one for each reason. */
export function strictnessLists(): string {
  return keysOf(BECAUSE)
    .map((because) => {
      const rows = STRICTNESS.filter((each) => each.because === because);
      const items = rows.map(({ code, what, why }) => `- ${what} (\`${code}\`): ${why}\n`);
      return `## ${BECAUSE[because]}\n\n${items.join('')}`;
    })
    .join('\n');
}
