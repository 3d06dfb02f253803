// SPDX-License-Identifier: Apache-2.0
/** Asserts the writes of a signer: their number, and the fields that it must leave. */
import { findCondition, hasTrueCondition } from '#api/request/conditions.ts';
import { membersOf } from '#base/record.ts';
import { sameBytes } from '#base/bytes.ts';
import { skip, unless, type AssertionResult } from '../case.ts';
import { issuedLeafOf, isAssertionResult, readChain } from '../issued-leaf.ts';
import { firstOf, lastOf, type ObservedRequest } from '../observed-request.ts';
import type { RequestAssertion } from '../snapshot.ts';
import { DENIED_BY_OTHER, isDeniedByApprover } from './answer.ts';

const APPROVED_BY_OTHER = 'another approver approved it';

/**
 * Passes when only the runner, or another approver instead of it, wrote the request. Skips when
 * another approver denied it and no one wrote it afterwards, which shows too little of the signer.
 */
export const isUntouched: RequestAssertion = (request) => {
  if (request.rejection !== undefined)
    return skip(`the API server refused it: ${request.rejection}`);
  const result = hasOneDecision(request);
  const isDeniedByOther = request.runnerWrites === 0 && isDeniedByApprover(request);
  return result.outcome === 'pass' && isDeniedByOther ? skip(DENIED_BY_OTHER) : result;
};

/** Passes when nothing but one decision, of the runner or of another approver, was written. */
function hasOneDecision(request: ObservedRequest): AssertionResult {
  const states = [...new Set(request.versions.map(({ state }) => state))].join(', then ');
  const wasDecided = wasApproved(request) || isDeniedByApprover(request);
  const decisions = Math.max(request.runnerWrites, wasDecided ? 1 : 0);
  const others = new Set(request.versions.map((each) => each.resourceVersion)).size - 1 - decisions;
  return unless(
    others <= 0 ? undefined : `${others} writes by others; states: ${states}`,
    `no write but the decision; it is ${lastOf(request)?.state ?? 'gone'}`,
  );
}

/**
 * Passes when the signer leaves an unapproved request alone. Skips when another approver approved
 * or denied it.
 */
export const waitsForApproval: RequestAssertion = (request, context) => {
  if (wasApproved(request)) return skip(APPROVED_BY_OTHER);
  if (lastOf(request)?.state === 'denied') return skip(DENIED_BY_OTHER);
  return isUntouched(request, context);
};

/**
 * Passes when the signer leaves a denied request alone. Skips when another approver approved it
 * before the runner could deny it.
 */
export const isLeftDenied: RequestAssertion = (request) => {
  if (wasApproved(request)) return skip(APPROVED_BY_OTHER);
  const isDenied = request.versions.some(({ conditions }) => findCondition(conditions, 'Denied'));
  return isDenied ? hasOneDecision(request) : skip('it could not be denied');
};

/** Reports whether an approver approved it. A poll may miss the version between two writes. */
function wasApproved({ versions }: ObservedRequest): boolean {
  return versions.some(({ conditions }) => hasTrueCondition(conditions, 'Approved'));
}

/** Passes when no version of any request has a certificate without the condition Approved. */
export const issuesOnlyApproved: (requests: readonly ObservedRequest[]) => AssertionResult = (
  requests,
) => {
  const wrong = requests.filter(({ versions }) =>
    versions.some(({ pem, conditions }) => pem !== '' && !hasTrueCondition(conditions, 'Approved')),
  );
  const issued = requests.filter((request) => firstOf(request, 'issued') !== undefined).length;
  return unless(
    wrong.length === 0 ? undefined : `${wrong.length} certificates without Approved`,
    `${issued} certificates, all approved`,
  );
};

/** Passes when no request is both refused and issued. */
export function refusesWithoutCertificate(requests: readonly ObservedRequest[]): AssertionResult {
  const wrong = requests.filter(({ versions }) =>
    versions.some(
      ({ pem, conditions }) =>
        pem !== '' && conditions.some(({ type }) => type === 'Denied' || type === 'Failed'),
    ),
  );
  return unless(
    wrong.length === 0 ? undefined : `${wrong.length} refused requests have a certificate`,
    `none of ${requests.length} requests is refused and has a certificate`,
  );
}

/** Passes when no client writes an answered request again before the run ends. */
export const isNotWrittenAfterAnswer: RequestAssertion = (request) => {
  const answer = request.versions.findIndex(({ state }) => ENDED.has(state));
  if (answer === -1) return skip('it was not answered');
  const after = request.versions.length - 1 - answer;
  return unless(after === 0 ? undefined : `${after} writes after the answer`, 'not written again');
};

const ENDED: ReadonlySet<string> = new Set(['issued', 'denied', 'failed']);

/**
 * Passes when one write answers the request. Each write costs the API server, etcd and every
 * watcher.
 */
export const isAnsweredInOneWrite: RequestAssertion = (request) => {
  if (!request.isComplete)
    return skip('the runner may not watch, so that a version can have been missed');
  const answer = request.versions.findIndex(({ state }) => ENDED.has(state));
  if (answer === -1) return skip('it was not answered');
  const approval = request.versions.findIndex(({ state }) => state === 'approved');
  const from = approval === -1 ? 0 : approval;
  const writes = answer - from;
  return unless(writes === 1 ? undefined : `${writes} writes`, 'one write');
};

/**
 * Passes when spec, labels, annotations, finalizers and owners stay as the requester wrote them.
 */
export const keepsImmutableFields: RequestAssertion = (request) => {
  const frames = new Set(request.versions.map(({ immutableFields: frame }) => frame));
  const [first, second] = frames;
  return unless(
    second === undefined ? undefined : `changed: ${difference(first ?? '', second)}`,
    'as the requester wrote them',
  );
};

function difference(before: string, after: string): string {
  const [a, b] = [membersOf(JSON.parse(before)), membersOf(JSON.parse(after))];
  const keys = Object.keys({ ...a, ...b });
  const changed = keys.filter((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key]));
  return changed.map((key) => `${key} became ${JSON.stringify(b[key])}`).join('; ');
}

/**
 * Passes when no two leaves have the same serial, which is unique for each CA (RFC 5280 §4.1.2.2).
 */
export function haveUniqueSerials(requests: readonly ObservedRequest[]): AssertionResult {
  const serials = requests.flatMap((request) => {
    const pem = firstOf(request, 'issued')?.pem;
    const chain = pem === undefined ? '' : readChain(pem);
    return typeof chain === 'string' ? [] : [Buffer.from(chain[0]?.serial ?? []).toString('hex')];
  });
  if (serials.length < 2) return skip('fewer than two certificates were issued');
  const different = new Set(serials).size;
  return unless(
    different === serials.length ? undefined : `${different} serials in ${serials.length} leaves`,
    `${different} different serials`,
  );
}

/**
 * Passes when two requests with the same bytes get leaves with different serials, because they are
 * two requests.
 */
export function haveDifferentSerials(
  request: ObservedRequest,
  other: ObservedRequest,
): AssertionResult {
  const [a, b] = [issuedLeafOf(request), issuedLeafOf(other)];
  if (isAssertionResult(a)) return a;
  if (isAssertionResult(b)) return b;
  const same = sameBytes(a.leaf.serial, b.leaf.serial);
  return unless(same ? 'both leaves have the same serial' : undefined, 'two leaves, two serials');
}
