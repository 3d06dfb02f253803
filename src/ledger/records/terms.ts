// SPDX-License-Identifier: Apache-2.0
/** By what a record is found. */
import { attempt, SignerError } from '../../errors.ts';
import { OID_COMMON_NAME } from '../../pki/der/oids.ts';
import { decodeCertificate, fingerprint, type Certificate } from '../../pki/x509/certificate.ts';
import { malformedRecord } from './malformed.ts';
import type { LedgerRecord, RecordBody } from './record.ts';

/**
 * Kinds of terms and their numbers in the database, the most selective first: a search begins with the first that it
 * has. Numbers are never reused.
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

/** What can be searched for. */
export type TermKind = keyof typeof TERM_KINDS;

/** One thing by which a record is found. */
export interface SearchTerm {
  readonly kind: TermKind;
  readonly value: string;
}

/** What the database keeps beside a record to find it. */
export interface Findable {
  readonly terms: readonly SearchTerm[];
  /** Of the certificate, in milliseconds since 1970. */
  readonly notAfter?: number;
}

/** Bytes. Longer ones could not be an entry of an index in PostgreSQL (2,704 bytes with all else); a SPIFFE ID has so many. */
const LONGEST_TERM = 2048;

/** Whether it fits, in bytes of UTF-8 as PostgreSQL has it, which spells control characters with one more (postgres.ts). */
function isShort(value: string): boolean {
  // A UTF-16 unit is three bytes at most.
  if (value.length * 4 <= LONGEST_TERM) return true;
  return Buffer.byteLength(value) + (value.match(CONTROLS)?.length ?? 0) <= LONGEST_TERM;
}

const CONTROLS = /\p{Cc}/gu;

/**
 * By what a record is found.
 *
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

/** A term twice would be no row of the database. Our reader of certificates bounds them: 1,000 alternative names. */
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

/** When the certificate of a record expires, in milliseconds since 1970; nothing where it has none. */
export function certificateNotAfter(record: RecordBody['record']): number | undefined {
  return 'certificate' in record ? decoded(record.certificate).notAfter : undefined;
}

/**
 * The namespace whose team a record is for: its request's; of a request without one, as a CertificateSigningRequest is,
 * that of the ServiceAccount that asked, else that of the Signer that was asked. Nothing where there is none of them.
 */
export function namespaceOf(record: RecordBody['record']): string | undefined {
  if (!('signer' in record)) return undefined;
  const ofSigner = record.signer.object?.namespace;
  if (record.kind === 'authority') return ofSigner;
  return record.request.namespace ?? record.requester.serviceAccount?.namespace ?? ofSigner;
}

type Asked = Extract<LedgerRecord, { readonly kind: 'issued' }>;

function termsOfRequester(requester: Asked['requester']): readonly Pair[] {
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
    ...subject.attributes
      .filter(({ oid }) => oid === OID_COMMON_NAME)
      .map(({ value }): Pair => ['subject', value]),
    ...names.map((value): Pair => ['san', value]),
  ];
}

function decoded(base64: string): Certificate {
  const certificate = attempt(() => decodeCertificate(Buffer.from(base64, 'base64')));
  if (!(certificate instanceof SignerError)) return certificate;
  throw malformedRecord(`the member certificate is none (${certificate.code})`);
}
