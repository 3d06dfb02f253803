// SPDX-License-Identifier: Apache-2.0
/** Asserts whether, how and how fast a request was answered. */
import { hasTrueCondition } from '#api/request/conditions.ts';
import { fail, pass, skip, unless, type AssertionResult } from '../case.ts';
import { unansweredText } from '../issued-leaf.ts';
import { endText, firstOf, lastOf, type ObservedRequest } from '../observed-request.ts';
import type { AssertionContext, RequestAssertion } from '../snapshot.ts';

/** Returns how the API server or the signer refused a request, or undefined when neither did. */
export function refusedText(request: ObservedRequest): string | undefined {
  if (request.rejection !== undefined) return `the API server refused it: ${request.rejection}`;
  const last = lastOf(request);
  if (last?.state !== 'denied' && last?.state !== 'failed') return undefined;
  return `refused: ${endText(last)}`;
}

const NOT_APPROVED = 'not approved, and the runner lacks the permission to approve';

/** Reports whether a request needs approval, as all but PodCertificateRequests do. */
function needsApproval({ requested }: ObservedRequest): boolean {
  return requested.pod === undefined;
}

/** Evidence of a case that an approver's denial leaves open. */
export const DENIED_BY_OTHER = 'another approver denied it';

/**
 * Reports whether an approver denied the request, which shows nothing of the signer. Signers of
 * pods deny requests themselves.
 */
export function isDeniedByApprover(request: ObservedRequest): boolean {
  const { conditions = [] } = lastOf(request) ?? {};
  return needsApproval(request) && hasTrueCondition(conditions, 'Denied');
}

/**
 * Passes when the request was issued. Skips when it is not approved and the runner must not approve
 * it, or when another approver denied it.
 */
export const isAnswered: RequestAssertion = (request) => {
  const last = lastOf(request);
  if (last === undefined) return fail(`the API server refused it: ${request.rejection ?? ''}`);
  const answer = firstOf(request, 'issued');
  if (answer !== undefined) return pass(`issued ${answer.at} ms after its creation`);
  if (isDeniedByApprover(request)) return skip(DENIED_BY_OTHER);
  if (last.state === 'denied' || last.state === 'failed') return fail(`it was ${endText(last)}`);
  if (needsApproval(request) && last.state === 'pending') return skip(NOT_APPROVED);
  return fail(unansweredText(request));
};

/**
 * Passes when the request was issued with its key type, or was refused. The key types in
 * `profile.keyTypes` must be issued. @param reasonOf - returns the fault of the refusal, or
 * undefined
 */
export function respectsKeyType(
  reasonOf?: (request: ObservedRequest) => string | undefined,
): RequestAssertion {
  return (request, { profile }) => {
    const { keyType } = request.requested;
    const listed = keyType !== undefined && profile.keyTypes?.includes(keyType);
    const refused = refusedText(request);
    if (refused !== undefined) {
      if (listed === true && isDeniedByApprover(request)) return skip(DENIED_BY_OTHER);
      if (listed === true) return fail(`the profile lists ${keyType}: ${refused}`);
      return unless(reasonOf?.(request), refused);
    }
    return issuedKeyType(request, listed);
  };
}

function issuedKeyType(request: ObservedRequest, listed: boolean | undefined): AssertionResult {
  const name = request.requested.keyType ?? 'such a key';
  if (firstOf(request, 'issued') === undefined) {
    const idle = needsApproval(request) && lastOf(request)?.state === 'pending';
    return idle ? skip(NOT_APPROVED) : fail(unansweredText(request));
  }
  if (listed === false) return fail(`issued, although the profile does not list ${name}`);
  return pass(`issued for ${name}`);
}

/**
 * Passes when the condition that ends a refused request has a reason and a message (Kubernetes API
 * conventions, conditions). Skips when an approver denied the request.
 */
export const hasReasonAndMessage: RequestAssertion = (request) => {
  const last = lastOf(request);
  if (last?.state !== 'denied' && last?.state !== 'failed') return skip('it was not refused');
  if (isDeniedByApprover(request)) return skip(DENIED_BY_OTHER);
  const mute = last.conditions.filter(
    ({ type, reason, message }) =>
      ['Denied', 'Failed'].includes(type) && ((reason ?? '') === '' || (message ?? '') === ''),
  );
  return unless(
    mute.length === 0
      ? undefined
      : `${mute.map(({ type }) => type).join()} without reason or message`,
    endText(last),
  );
};

/**
 * Returns the milliseconds from the moment at which the signer could begin, or undefined if it did
 * not answer.
 */
function latencyOf(request: ObservedRequest): number | undefined {
  const issued = firstOf(request, 'issued');
  if (issued === undefined) return undefined;
  const begun = firstOf(request, 'approved') ?? request.versions[0];
  return Math.max(0, issued.at - (begun?.at ?? 0));
}

/**
 * Passes when every certificate comes within `profile.latency` seconds after approval, or after
 * creation if no approval is needed.
 */
export function areWithinLatency(
  requests: readonly ObservedRequest[],
  { profile: { latency } }: Pick<AssertionContext, 'profile'>,
): AssertionResult {
  const times = requests.flatMap((request) => latencyOf(request) ?? []).sort((a, b) => a - b);
  const worst = times.at(-1);
  if (worst === undefined) return skip('nothing was issued');
  const median = times[Math.floor(times.length / 2)] ?? worst;
  const text = `${times.length} certificates: median ${median} ms, worst ${worst} ms`;
  return worst <= latency * 1000 ? pass(text) : fail(`${text}, more than ${latency} s`);
}

/** Passes when all requests of a burst are issued, except those that an approver denied. */
export function areAllIssued(requests: readonly ObservedRequest[]): AssertionResult {
  const decided = requests.filter((each) => !isDeniedByApprover(each));
  if (decided.length === 0) return skip(DENIED_BY_OTHER);
  const idle = decided.filter((each) => needsApproval(each) && lastOf(each)?.state === 'pending');
  if (idle.length === decided.length) return skip(NOT_APPROVED);
  const issued = decided.filter((request) => firstOf(request, 'issued') !== undefined).length;
  const text = `${issued} of ${decided.length} issued`;
  return issued === decided.length ? pass(text) : fail(text);
}
