// SPDX-License-Identifier: Apache-2.0
/** The search terms of a record. */
import { attempt, SignerError } from '#base/errors.ts';
import { commonNamesOf } from '#pki/names/distinguished-name.ts';
import { decodeCertificate, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { malformedRecord } from './malformed.ts';
import type { LedgerRecord, RecordBody } from './record.ts';

/**
 * Kinds of terms and their numbers in the database, the most selective first. A search begins with
 * the first kind that it has. Numbers are never reused.
 */
export const TERM_KINDS = {
  of: 1,
  fingerprint: 2,
  serial: 3,
  request: 4,
  podUid: 5,
  pod: 6,
  san: 7,
  subject: 8,
  user: 9,
  serviceAccount: 10,
  node: 11,
  namespace: 12,
  rule: 13,
  ca: 14,
  signer: 15,
} as const;

/** A kind of search term. */
export type TermKind = keyof typeof TERM_KINDS;

/** One search term of a record. */
export interface SearchTerm {
  readonly kind: TermKind;
  readonly value: string;
}

/** The columns that the database keeps beside a record to find it. */
export interface Findable {
  readonly terms: readonly SearchTerm[];
  /** Expiry of the certificate, in milliseconds since 1970. */
  readonly notAfter?: number;
}

/**
 * Bytes of a term at most. A longer one might not fit an index entry of PostgreSQL (2,704 bytes in
 * all). A SPIFFE ID may have this length.
 */
const LONGEST_TERM = 2048;

/**
 * Reports whether the value fits, in bytes of UTF-8 as PostgreSQL stores it. Each control character
 * takes one byte more there (postgres.ts).
 */
function isShort(value: string): boolean {
  // A UTF-16 unit takes three bytes at most, or four as a control character.
  if (value.length * 4 <= LONGEST_TERM) return true;
  return Buffer.byteLength(value) + (value.match(CONTROLS)?.length ?? 0) <= LONGEST_TERM;
}

const CONTROLS = /\p{Cc}/gu;

/**
 * Returns the search terms of a record.
 * @throws SignerError LEDGER_MALFORMED if its certificate cannot be read
 */
export function findable(record: RecordBody['record']): Findable {
  if (record.kind === 'erased') {
    return {
      terms: eachOnce((record.living ?? []).map((value): Pair => ['fingerprint', value])),
    };
  }
  const certificate = 'certificate' in record ? decoded(record.certificate) : undefined;
  const terms = eachOnce([...termsOfRequest(record), ...termsOfCertificate(certificate)]);
  return certificate === undefined ? { terms } : { terms, notAfter: certificate.notAfter };
}

type Pair = readonly [TermKind, string];

/**
 * Removes duplicates, which the primary key forbids. The certificate reader bounds alternative
 * names to 1,000.
 */
function eachOnce(pairs: readonly Pair[]): readonly SearchTerm[] {
  const terms = new Map<string, SearchTerm>();
  for (const [kind, value] of pairs) {
    if (value === '' || !isShort(value)) continue;
    const spelled = `${kind} ${value}`;
    if (!terms.has(spelled)) terms.set(spelled, { kind, value });
  }
  return [...terms.values()];
}

function termsOfRequest(record: LedgerRecord): readonly Pair[] {
  if (record.kind === 'gap') return [];
  if (record.kind === 'result') return [['of', record.of]];
  const ofAll: readonly Pair[] = [
    ...termsOfSigner(record),
    ['namespace', namespaceOf(record) ?? ''],
  ];
  if (record.kind === 'authority') return ofAll;
  const { request, requester, decision } = record;
  return [
    ...ofAll,
    ...termsOfRequester(requester),
    ['request', request.uid],
    ['rule', decision?.rule ?? ''],
  ];
}

/**
 * Returns the expiry of a record's certificate in milliseconds since 1970, or undefined without a
 * certificate.
 */
export function certificateNotAfter(record: RecordBody['record']): number | undefined {
  return 'certificate' in record ? decoded(record.certificate).notAfter : undefined;
}

/**
 * Returns the namespace whose team the record belongs to: that of its request. A request without
 * one, such as a CertificateSigningRequest, belongs to the namespace of the requesting
 * ServiceAccount, else to that of the Signer. Returns undefined if none has a namespace.
 */
export function namespaceOf(record: RecordBody['record']): string | undefined {
  if (!('signer' in record)) return undefined;
  const ofSigner = record.signer.object?.namespace;
  if (record.kind === 'authority') return ofSigner;
  return record.request.namespace ?? record.requester.serviceAccount?.namespace ?? ofSigner;
}

type IssuedRecord = Extract<LedgerRecord, { readonly kind: 'issued' }>;

function termsOfRequester(requester: IssuedRecord['requester']): readonly Pair[] {
  const { user, pod, serviceAccount, node } = requester;
  return [
    ['podUid', pod?.uid ?? ''],
    ['pod', pathOf(pod)],
    ['serviceAccount', pathOf(serviceAccount)],
    ['user', user?.username ?? ''],
    ['node', node?.name ?? ''],
  ];
}

function termsOfSigner(record: {
  readonly signer: { readonly name: string };
  readonly ca?: string | undefined;
}): readonly Pair[] {
  return [
    ['signer', record.signer.name],
    ['ca', record.ca ?? ''],
  ];
}

function pathOf(object: { readonly namespace: string; readonly name: string } | undefined): string {
  return object === undefined ? '' : `${object.namespace}/${object.name}`;
}

function termsOfCertificate(certificate: Certificate | undefined): readonly Pair[] {
  if (certificate === undefined) return [];
  const { sans, subject, serial, raw } = certificate;
  const names = [...sans.dnsNames, ...sans.ipAddresses, ...sans.uris, ...sans.emails];
  return [
    ['fingerprint', fingerprint(raw)],
    ['serial', Buffer.from(serial).toString('hex').replace(/^00/, '')],
    ...commonNamesOf(subject).map((value): Pair => ['subject', value]),
    ...names.map((value): Pair => ['san', value]),
  ];
}

function decoded(base64: string): Certificate {
  const certificate = attempt(() => decodeCertificate(Buffer.from(base64, 'base64')));
  if (!(certificate instanceof SignerError)) return certificate;
  throw malformedRecord(`the member certificate is not a certificate (${certificate.code})`);
}
