// SPDX-License-Identifier: Apache-2.0
import type { Answer, NoAnswer } from '../acme/answer.ts';
import { quote } from '../quote.ts';
import { fnv1a } from '../hash.ts';
import { renewalPollMs, renewAt, type IssuedLife } from './renewal-plan.ts';

/** When a certificate is best renewed, and why then. Milliseconds since 1970. */
export interface RenewalRecord {
  /** RFC 9773's window; absent where the server gives none. */
  readonly window?: { readonly start: number; readonly end: number } | undefined;
  readonly explanationURL?: string | undefined;
  /** The moment that is this certificate's own; absent until it was planned. */
  readonly renewAt?: number | undefined;
  /** When the server is asked again. */
  readonly checkAt?: number | undefined;
  /** CamelCase, for programs. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** When its Certificate was last marked to be issued anew. */
  readonly markedAt?: number | undefined;
}

/** The certificate that is planned for. */
export interface RenewedLeaf extends Pick<IssuedLife, 'notBefore' | 'notAfter'> {
  /** RFC 9773 id; where there is none, any text that stays. */
  readonly id: string;
}

/** Everything that the next step of a renewal depends on. */
export interface RenewalView {
  readonly record: RenewalRecord;
  readonly leaf: RenewedLeaf;
  /** When the Order ended. Milliseconds since 1970. */
  readonly issuedAt: number;
  /** Whether a newer certificate of the same requester is there. */
  readonly isReplaced: boolean;
  /** Whether the signer's server is asked for windows. */
  readonly asks: boolean;
}

/** What is to be done for the renewal of a certificate now. */
export type RenewalStep =
  /** Nobody needs to know. */
  | { readonly step: 'done' }
  /** It has just been issued. */
  | { readonly step: 'wait'; readonly until: number }
  /** `meanwhile` is what was known before, as it is now. */
  | { readonly step: 'ask'; readonly meanwhile: RenewalRecord | undefined }
  /** The status has this record. */
  | { readonly step: 'note'; readonly record: RenewalRecord };

export const RENEWAL_DUE = 'RenewalDue';
export const CERTIFICATE_MARKED = 'CertificateMarked';
export const MARK_REFUSED = 'MarkRefused';
const NO_RENEWAL_INFO = 'NoRenewalInfo';
const RENEWAL_INFO_FAILED = 'RenewalInfoFailed';
/** Reasons of a renewal whose time has come. */
const DUE_REASONS: readonly (string | undefined)[] = [
  RENEWAL_DUE,
  CERTIFICATE_MARKED,
  MARK_REFUSED,
];

const SECOND = 1000;
const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
/** What was issued in one hour is not asked for in one hour again and again. */
const POLL_SPREAD = 0.1;

/** The next step of a renewal. What has expired, or was replaced, is renewed no more. */
export function nextRenewalStep(view: RenewalView, now: number): RenewalStep {
  const { record, leaf, isReplaced, asks } = view;
  if (isReplaced || leaf.notAfter <= now) return { step: 'done' };
  const until = firstLookAt(view);
  if (record.renewAt === undefined && record.checkAt === undefined && now < until)
    return { step: 'wait', until };
  if (!asks) return { step: 'note', record: planned(withoutWindow(record), leaf, now, OFF) };
  if (record.renewAt === undefined) return { step: 'ask', meanwhile: undefined };
  const known = planned(record, leaf, now, whyNoWindow(record));
  return now < (record.checkAt ?? 0)
    ? { step: 'note', record: known }
    : { step: 'ask', meanwhile: known };
}

/** Nothing is suggested for the first hour of a certificate: it spreads what is issued together. */
function firstLookAt({ leaf, issuedAt }: RenewalView): number {
  const within = Math.min(HOUR, (leaf.notAfter - leaf.notBefore) / 100);
  return issuedAt + Math.round((within * fnv1a(leaf.id)) / 2 ** 32);
}

/** Why the moment is not the server's. */
interface NoWindow {
  readonly reason: string;
  readonly message: string;
}

const SHARE = 'a share of the life of the certificate decides';
const OFF: NoWindow = {
  reason: NO_RENEWAL_INFO,
  message: `spec.acme.renewalInfo of the signer is false: ${SHARE}`,
};
const NONE: NoWindow = {
  reason: NO_RENEWAL_INFO,
  message: `the ACME server suggests no window: ${SHARE}`,
};

function whyNoWindow({ reason, message = '' }: RenewalRecord): NoWindow {
  return reason === undefined || DUE_REASONS.includes(reason) ? NONE : { reason, message };
}

function withoutWindow(record: RenewalRecord, checkAt?: number): RenewalRecord {
  return { ...record, window: undefined, explanationURL: undefined, checkAt };
}

/** What the server said of a window. */
export type RenewalAnswer = Answer<{
  readonly start: number;
  readonly end: number;
  readonly explanationURL?: string | undefined;
}>;

/** Answers that concern the certificate that was asked for. */
const OF_ONE: readonly NoAnswer['cause'][] = ['unusable', 'too-long', 'redirect', 'foreign-url'];

/** Whether every certificate of the account waits for a while: the server is down, or limits its calls. */
export function isOfTheServer(answer: RenewalAnswer): boolean {
  if (answer.kind === 'problem') return answer.status >= 500 || answer.status === 429;
  return answer.kind === 'transport' && !OF_ONE.includes(answer.cause);
}

/**
 * After the server was asked. A server that fails changes no window that is known (RFC 9773 §4.3.2); one that has none for
 * this certificate does.
 *
 * @param failures - answers in a row that were the server's failure, this one included
 */
export function afterRenewalInfo(
  { record, leaf }: Pick<RenewalView, 'record' | 'leaf'>,
  answer: RenewalAnswer,
  failures: number,
  now: number,
): RenewalRecord {
  const checkAt = now + pollMs(answer, failures, `${leaf.id} ${now}`);
  if (answer.kind === 'ok') {
    const { start, end, explanationURL } = answer.value;
    const from = inSeconds(start);
    const window = { start: from, end: Math.max(inSeconds(end), from + SECOND) };
    return planned({ ...record, window, explanationURL, checkAt }, leaf, now, NONE);
  }
  if (!isOfTheServer(answer)) return planned(withoutWindow(record, checkAt), leaf, now, NONE);
  const { detail } = answer;
  const message = `the ACME server does not say when to renew, it is asked again: ${detail}`;
  return planned({ ...record, checkAt }, leaf, now, { reason: RENEWAL_INFO_FAILED, message });
}

/**
 * When the server is asked again. What it asks for is the least; above it, a tenth spreads what was issued together.
 *
 * @param seed - spreads
 */
function pollMs(answer: RenewalAnswer, failures: number, seed: string): number {
  const retryAfterMs = answer.kind === 'transport' ? undefined : answer.retryAfterMs;
  const share = fnv1a(seed) / 2 ** 32;
  // A limit that says how long it lasts is waited for.
  const least = failures > 0 ? (retryAfterMs ?? 0) : 0;
  const asked = answer.kind === 'problem' ? (retryAfterMs ?? DAY) : retryAfterMs;
  const wait = Math.max(renewalPollMs(asked, failures), least);
  return Math.round(wait * (1 + POLL_SPREAD * share));
}

/** The record with the moment of renewal, and the reason that is true now. */
function planned(
  record: RenewalRecord,
  leaf: RenewedLeaf,
  now: number,
  noWindow: NoWindow,
): RenewalRecord {
  const { window, explanationURL, checkAt, markedAt } = record;
  const at = inSeconds(renewAt({ ...leaf, window }, leaf.id));
  const kept = { window, explanationURL, renewAt: at, checkAt, markedAt };
  if (at > now) return window === undefined ? { ...kept, ...noWindow } : kept;
  // What became of it once it was due stays until there is news of that.
  if (DUE_REASONS.includes(record.reason) && record.renewAt === at)
    return { ...kept, reason: record.reason, message: record.message };
  return { ...kept, reason: RENEWAL_DUE, message: dueMessage(kept, leaf) };
}

function dueMessage(
  { window, explanationURL, renewAt: at = 0 }: RenewalRecord,
  { notAfter }: RenewedLeaf,
): string {
  const end = `it ends at ${text(notAfter)}`;
  const due = `the certificate is to be renewed since ${text(at)}`;
  if (window === undefined) return `${due}; ${end}`;
  const why =
    explanationURL === undefined ? '' : `; the CA explains why at ${quote(explanationURL, 200)}`;
  return `${due}: the CA suggests ${text(window.start)} to ${text(window.end)}; ${end}${why}`;
}

/** From when on somebody should look why it was not renewed: a day later, or after half of what was left of its life. */
export function overdueAt(at: number, notAfter: number): number {
  return at + Math.min(DAY, Math.max(0, (notAfter - at) / 2));
}

/** Statuses have whole seconds: what is read again is what was planned. */
function inSeconds(milliseconds: number): number {
  return Math.ceil(milliseconds / SECOND) * SECOND;
}

function text(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
