// SPDX-License-Identifier: Apache-2.0
/** Asserts the status of a CertificateRequest as cert-manager's API defines it. */
import { findCondition } from '#api/request/conditions.ts';
import { fail, pass, skip, unless, type AssertionResult } from '../case.ts';
import { chainsToAnchor } from '../assertions/chain.ts';
import { lastOf, type ObjectVersion, type ObservedRequest } from '../observed-request.ts';
import { onLeaf, type RequestAssertion } from '../snapshot.ts';
import type { CrSnapshot } from './snapshot.ts';

/**
 * Passes when Ready is true with a certificate only: "the target certificate exists in
 * CertificateRequest.Status".
 */
export function readyMeansCertificate(requests: readonly ObservedRequest[]): AssertionResult {
  const wrong = requests.flatMap(({ versions }) =>
    versions.filter(({ pem, conditions }) => {
      const ready = findCondition(conditions, 'Ready')?.status === 'True';
      return ready !== (pem !== '');
    }),
  );
  return unless(
    wrong.length === 0 ? undefined : `${wrong.length} versions have the one without the other`,
    `${requests.length} requests`,
  );
}

/** Passes when the issuer marks a denied request in Ready. */
export const isMarkedDenied: RequestAssertion = (request) => {
  const last = lastOf(request);
  if (last === undefined) return skip(`the API server refused it: ${request.rejection ?? ''}`);
  if (findCondition(last.conditions, 'Denied') === undefined) return skip('it could not be denied');
  return last.pem === '' ? isReadyDenied(last) : fail('it has a certificate');
};

function isReadyDenied({ conditions }: ObjectVersion): AssertionResult {
  const ready = findCondition(conditions, 'Ready');
  if (ready === undefined) return fail('it has no condition Ready');
  const text = `Ready=${ready.status} ${ready.reason ?? ''}`;
  return ready.status === 'False' && ready.reason === 'Denied' ? pass(text) : fail(text);
}

/**
 * Passes when refusals have status.failureTime, which is "used to influence garbage collection and
 * back-off". An approver may deny requests that no issuer answers: these have no condition Ready.
 */
export function haveFailureTime(requests: readonly ObservedRequest[]): AssertionResult {
  const ended = requests.flatMap((request) => lastOf(request) ?? []).filter(isRefused);
  if (ended.length === 0) return skip('nothing was refused');
  const without = ended.filter(({ failureTime = '' }) => failureTime === '').length;
  return unless(
    without === 0 ? undefined : `${without} of ${ended.length} refusals without failureTime`,
    `${ended.length} refusals`,
  );
}

function isRefused({ state, conditions }: ObjectVersion): boolean {
  const isEnded = state === 'denied' || state === 'failed';
  return isEnded && findCondition(conditions, 'Ready') !== undefined;
}

const REASONS: ReadonlySet<string> = new Set(['Pending', 'Failed', 'Issued', 'Denied']);

/** Passes when the reasons are those that cert-manager's own controllers and people look for. */
export function haveKnownReasons(requests: readonly ObservedRequest[]): AssertionResult {
  const reasons = requests
    .flatMap(({ versions }) => versions.map((each) => findCondition(each.conditions, 'Ready')))
    .filter((each) => each !== undefined && each.status !== 'Unknown')
    .map((each) => each?.reason ?? '');
  if (reasons.length === 0) return skip('no request has the condition Ready');
  const unknown = reasons.filter((each) => !REASONS.has(each));
  return unless(
    unknown.length === 0 ? undefined : `Ready with reason ${[...new Set(unknown)].join(', ')}`,
    [...new Set(reasons)].join(', '),
  );
}

/**
 * Passes when the chain leads to status.ca. The field is best effort, but must be correct if it is
 * set.
 */
export function chainsToStatusCa(snapshot: CrSnapshot): AssertionResult {
  return onLeaf<'plain'>('plain', chainsToAnchor)({ ...snapshot, anchors: snapshot.statusCa });
}
