// SPDX-License-Identifier: Apache-2.0
import type { Answer } from '../protocol/answer.ts';
import type { RenewalWindow } from '../protocol/resources.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { fnv1a } from '#base/hash.ts';
import type { OrderObjectStatus } from '#api/acme/order.ts';
import { RENEWAL_POLL_SPREAD, renewalPollMs } from './poll-intervals.ts';
import { renewAt, type IssuedLife } from './renewal-plan.ts';
import { changed, timeOf, timeText, wholeSeconds } from './status.ts';
import { waitOf } from './verdict.ts';
import * as messages from './messages.ts';

/** Renewal time of a certificate and its reason. Its times are whole seconds. */
export type OrderRenewal = NonNullable<OrderObjectStatus['renewal']>;

/** The certificate to plan for. */
export interface RenewedLeaf extends Pick<IssuedLife, 'notBefore' | 'notAfter'> {
  /** RFC 9773 id, or any other constant text. */
  readonly id: string;
}

/** Input of the decision on a renewal's next step. */
export interface RenewalView {
  readonly status: OrderRenewal;
  readonly leaf: RenewedLeaf;
  /** End of the Order in milliseconds since 1970. */
  readonly issuedAt: number;
  /** Whether a newer certificate of the same requester exists. */
  readonly isReplaced: boolean;
  /** Whether the signer requests windows from its server. */
  readonly asks: boolean;
}

/** Next action for the renewal of a certificate. */
export type RenewalStep =
  /** No renewal is necessary. */
  | { readonly step: 'done' }
  /** The certificate is new. */
  | { readonly step: 'wait'; readonly until: number }
  /** `meanwhile` is the known status, as of now. */
  | { readonly step: 'ask'; readonly meanwhile: OrderRenewal | undefined }
  /** The Order gets this status. */
  | { readonly step: 'note'; readonly status: OrderRenewal };

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

/** Returns the next step of a renewal. Expired and replaced certificates are not renewed. */
export function nextRenewalStep(view: RenewalView, now: number): RenewalStep {
  const { status, leaf, isReplaced, asks } = view;
  if (isReplaced || leaf.notAfter <= now) return { step: 'done' };
  const until = firstLookAt(view);
  if (status.renewAt === undefined && status.checkAt === undefined && now < until)
    return { step: 'wait', until };
  if (!asks) return { step: 'note', status: planned(withoutWindow(status), leaf, now, OFF) };
  if (status.renewAt === undefined) return { step: 'ask', meanwhile: undefined };
  const known = planned(status, leaf, now, whyNoWindow(status));
  return now < (timeOf(status.checkAt) ?? 0)
    ? { step: 'note', status: known }
    : { step: 'ask', meanwhile: known };
}

/**
 * Returns the time of the first request for a window, spread over the certificate's first hour.
 * This spreads certificates that were issued together.
 */
function firstLookAt({ leaf, issuedAt }: RenewalView): number {
  const within = Math.min(HOUR, (leaf.notAfter - leaf.notBefore) / 100);
  return issuedAt + Math.round((within * fnv1a(leaf.id)) / 2 ** 32);
}

/** Reason that the time is not from the server. */
interface NoWindow {
  readonly reason: string;
  readonly message: string;
}

const OFF: NoWindow = {
  reason: NO_RENEWAL_INFO,
  message: messages.RENEWAL_INFO_OFF,
};
const NONE: NoWindow = {
  reason: NO_RENEWAL_INFO,
  message: messages.NO_WINDOW,
};

function whyNoWindow({ reason, message = '' }: OrderRenewal): NoWindow {
  return reason === undefined || DUE_REASONS.includes(reason) ? NONE : { reason, message };
}

function withoutWindow(status: OrderRenewal, checkAt?: string): OrderRenewal {
  const none = { windowStart: undefined, windowEnd: undefined, explanationURL: undefined };
  return changed(status, { ...none, checkAt });
}

/** Answer to a request for a window. */
export type RenewalAnswer = Answer<RenewalWindow>;

/** Causes that concern a single certificate. */
const OF_ONE: readonly NoAnswer['cause'][] = ['unusable', 'too-long', 'redirect', 'foreign-url'];

/** Reports whether every certificate of the account waits: the server is down, or limits calls. */
function isOfTheServer(answer: RenewalAnswer): boolean {
  if (answer.kind === 'problem') return answer.status >= 500 || answer.status === 429;
  return answer.kind === 'transport' && !OF_ONE.includes(answer.cause);
}

/** Returns the server's consecutive failures. A limit with a duration lengthens no other wait. */
export function failuresAfterRenewalInfo(answer: RenewalAnswer, before: number): number {
  if (!isOfTheServer(answer)) return 0;
  const saysHowLong = answer.kind === 'problem' && answer.retryAfterMs !== undefined;
  return saysHowLong ? Math.max(1, before) : before + 1;
}

/**
 * Returns the renewal after the server's answer. A failing server changes no known window (RFC 9773
 * §4.3.2). A server without one for this certificate clears it.
 *
 * @param failures - consecutive failures of the server including this one
 */
export function afterRenewalInfo(
  { status, leaf }: Pick<RenewalView, 'status' | 'leaf'>,
  answer: RenewalAnswer,
  failures: number,
  now: number,
): OrderRenewal {
  const checkAt = wholeSeconds(now + pollMs(answer, failures, `${leaf.id} ${now}`));
  if (answer.kind === 'ok') {
    const { start, end, explanationURL } = answer.value;
    const windowStart = wholeSeconds(start);
    const windowEnd = wholeSeconds(Math.max(end, timeOf(windowStart) + SECOND));
    const changes = { windowStart, windowEnd, explanationURL, checkAt };
    return planned(changed(status, changes), leaf, now, NONE);
  }
  if (!isOfTheServer(answer)) return planned(withoutWindow(status, checkAt), leaf, now, NONE);
  const { detail } = answer;
  const message = messages.windowUnreadable(detail);
  return planned({ ...status, checkAt }, leaf, now, { reason: RENEWAL_INFO_FAILED, message });
}

/**
 * Returns the time until the next request. The server's Retry-After is the minimum. A tenth more
 * spreads certificates that were issued together.
 *
 * @param seed - spreads the waits
 */
function pollMs(answer: RenewalAnswer, failures: number, seed: string): number {
  const retryAfterMs = answer.kind === 'transport' ? undefined : answer.retryAfterMs;
  const share = fnv1a(seed) / 2 ** 32;
  // Respect a limit with a duration.
  const least = failures > 0 && answer.kind === 'problem' ? (waitOf(answer) ?? 0) : 0;
  const asked = answer.kind === 'problem' ? (retryAfterMs ?? DAY) : retryAfterMs;
  const wait = Math.max(renewalPollMs(asked, failures), least);
  return Math.round(wait * (1 + RENEWAL_POLL_SPREAD * share));
}

/** Returns the status with the renewal time and the current reason. */
function planned(
  { reason, message, ...status }: OrderRenewal,
  leaf: RenewedLeaf,
  now: number,
  noWindow: NoWindow,
): OrderRenewal {
  const window = windowOf(status);
  const at = wholeSeconds(renewAt({ ...leaf, window }, leaf.id));
  const kept = { ...status, renewAt: at };
  if (timeOf(at) > now) return window === undefined ? { ...kept, ...noWindow } : kept;
  // The result of a due renewal stays until it changes.
  if (DUE_REASONS.includes(reason) && status.renewAt === at)
    return changed<OrderRenewal>(kept, { reason, message });
  return { ...kept, reason: RENEWAL_DUE, message: dueMessage(kept, leaf) };
}

function windowOf({ windowStart, windowEnd }: OrderRenewal): IssuedLife['window'] {
  const [start, end] = [timeOf(windowStart), timeOf(windowEnd)];
  return start === undefined || end === undefined ? undefined : { start, end };
}

function dueMessage(
  status: OrderRenewal & { readonly renewAt: string },
  { notAfter }: RenewedLeaf,
): string {
  const window = windowOf(status);
  const { renewAt: at, explanationURL } = status;
  const end = messages.endsAt(timeText(notAfter));
  const due = messages.dueSince(timeText(timeOf(at)));
  if (window === undefined) return messages.dueAndEnd(due, end);
  const why = explanationURL === undefined ? '' : messages.explainedAt(explanationURL);
  const suggested = messages.windowText(timeText(window.start), timeText(window.end));
  return messages.suggestedWindow(due, suggested, end, why);
}

/**
 * Returns the time after which a missing renewal needs attention: a day later, or after half of the
 * remaining validity.
 */
export function overdueAt(at: number, notAfter: number): number {
  return at + Math.min(DAY, Math.max(0, (notAfter - at) / 2));
}
