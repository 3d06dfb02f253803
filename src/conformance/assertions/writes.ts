// SPDX-License-Identifier: Apache-2.0
/** What a signer writes, how often, and what it keeps its hands off. */
import { sameBytes } from '../../bytes.ts';
import { skip, unless, type AssertionResult } from '../case.ts';
import { issuedLeafOf, isAssertionResult, readChain } from '../issued-leaf.ts';
import { firstOf, lastOf, type ObservedRequest } from '../observed-request.ts';
import type { RequestAssertion } from '../snapshot.ts';

/** Nobody but the runner has written it. */
export const isUntouched: RequestAssertion = (request) => {
  if (request.rejection !== undefined)
    return skip(`the API server refused it: ${request.rejection}`);
  const states = [...new Set(request.versions.map(({ state }) => state))].join(', then ');
  const others =
    new Set(request.versions.map((each) => each.resourceVersion)).size - 1 - request.runnerWrites;
  return unless(
    others <= 0 ? undefined : `${others} foreign writes; it was ${states}`,
    `no write but the runner's; it is ${lastOf(request)?.state ?? 'gone'}`,
  );
};

/** Without an approval the signer waits. Where somebody approves by rules there is nothing to see. */
export const waitsForApproval: RequestAssertion = (request, context) => {
  if (firstOf(request, 'approved') !== undefined) return skip('somebody else approved it');
  if (lastOf(request)?.state === 'denied') return skip('somebody denied it');
  return isUntouched(request, context);
};

/** In no version a certificate without the approval before it. */
export const issuesOnlyApproved: (requests: readonly ObservedRequest[]) => AssertionResult = (
  requests,
) => {
  const wrong = requests.filter(({ versions }) =>
    versions.some(({ pem, conditions }) => pem !== '' && !isApproved(conditions)),
  );
  const issued = requests.filter((request) => firstOf(request, 'issued') !== undefined).length;
  return unless(
    wrong.length === 0 ? undefined : `${wrong.length} certificates without Approved`,
    `${issued} certificates, all approved`,
  );
};

function isApproved(conditions: readonly { type: string; status: string }[]): boolean {
  return conditions.some(({ type, status }) => type === 'Approved' && status === 'True');
}

/** A refusal that has a certificate all the same is both. */
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

/** The request that has its answer is not written again while the runner looks. */
export const isNotWrittenAfterAnswer: RequestAssertion = (request) => {
  const answer = request.versions.findIndex(({ state }) => ENDED.has(state));
  if (answer === -1) return skip('it was not answered');
  const after = request.versions.length - 1 - answer;
  return unless(after === 0 ? undefined : `${after} writes after the answer`, 'not written again');
};

const ENDED: ReadonlySet<string> = new Set(['issued', 'denied', 'failed']);

/** Every write costs the API server, etcd and every watcher the same again. */
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

/** Spec, labels, annotations, finalizers and owners stay the requester's. */
export const keepsImmutableFields: RequestAssertion = (request) => {
  const frames = new Set(request.versions.map(({ immutableFields: frame }) => frame));
  const [first, second] = frames;
  return unless(
    second === undefined ? undefined : `changed: ${difference(first ?? '', second)}`,
    'as the requester wrote them',
  );
};

function difference(before: string, after: string): string {
  const [a, b] = [before, after].map((text) => JSON.parse(text) as Record<string, unknown>);
  const keys = Object.keys({ ...a, ...b });
  const changed = keys.filter((key) => JSON.stringify(a?.[key]) !== JSON.stringify(b?.[key]));
  return changed.map((key) => `${key} became ${JSON.stringify(b?.[key])}`).join('; ');
}

/** RFC 5280 §4.1.2.2: unique for each CA. */
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

/** Two requests with the same bytes are two requests. */
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
