// SPDX-License-Identifier: Apache-2.0
/** Asserts the status of a PodCertificateRequest as a whole. */
import type { Condition } from '#api/request/conditions.ts';
import { fail, pass, skip, unless, type AssertionResult } from '../case.ts';
import { lastOf, type ObjectVersion, type ObservedRequest } from '../observed-request.ts';
import type { LeafAssertion, RequestAssertion } from '../snapshot.ts';
import { namesOf } from '../assertions/names.ts';

const KNOWN = ['Issued', 'Denied', 'Failed'];

/**
 * Passes when the status has at most one of the three conditions, and it is True
 * (PodCertificateRequestStatus.conditions).
 */
export const hasOneCondition: RequestAssertion = (request) => {
  const last = lastOf(request);
  if (last === undefined) return skip(`the API server refused it: ${request.rejection ?? ''}`);
  const { conditions } = last;
  if (conditions.length === 0) return skip('it was not answered');
  const text = conditions
    .map(({ type, status, reason }) => `${type}=${status} ${reason ?? ''}`)
    .join(', ');
  return conditions.length === 1 && conditions.every(isRight) ? pass(text) : fail(text);
};

function isRight({ type, status, reason, lastTransitionTime }: Condition): boolean {
  return (
    KNOWN.includes(type) &&
    status === 'True' &&
    (reason ?? '') !== '' &&
    lastTransitionTime !== undefined
  );
}

/** Passes when chain and times come together, or not at all. */
export function haveCompleteStatus(requests: readonly ObservedRequest[]): AssertionResult {
  const wrong = requests.flatMap(({ versions }) => versions.flatMap((each) => faultOf(each) ?? []));
  return unless(wrong[0], `${requests.length} requests`);
}

function faultOf({ state, pem, times = {} }: ObjectVersion): string | undefined {
  const set = [times.notBefore, times.notAfter, times.beginRefreshAt].filter(
    (each) => each !== undefined,
  );
  if (state === 'issued') {
    return pem !== '' && set.length === 3
      ? undefined
      : `Issued with ${set.length} of 3 times and ${pem === '' ? 'no' : 'a'} chain`;
  }
  return pem === '' && set.length === 0 ? undefined : `${state}, with a chain or times`;
}

/** Returns the fault of a refused key type. The API documents UnsupportedKeyType for it. */
export function keyTypeReason(request: ObservedRequest): string | undefined {
  const last = lastOf(request);
  if (last === undefined) return undefined;
  if (last.state !== 'denied') return `refused as ${last.state}, not Denied`;
  const reason = last.conditions[0]?.reason;
  return reason === 'UnsupportedKeyType'
    ? undefined
    : `Denied with reason ${reason ?? ''}, not UnsupportedKeyType`;
}

/**
 * Passes when the request is denied with this reason. Fails when it is issued or left unanswered.
 */
export function isDeniedFor(reason: string): RequestAssertion {
  return (request) => {
    const last = lastOf(request);
    if (last === undefined) return pass(`the API server refused it: ${request.rejection ?? ''}`);
    if (last.state !== 'denied') return fail(`it is ${last.state}`);
    const found = last.conditions[0]?.reason ?? '';
    return unless(found === reason ? undefined : `Denied, ${found}`, `Denied, ${found}`);
  };
}

/** Passes when the request is denied, for any reason. */
export const isDenied: RequestAssertion = (request) => {
  const last = lastOf(request);
  if (last === undefined) return pass(`the API server refused it: ${request.rejection ?? ''}`);
  const { reason = '', message = '' } = last.conditions[0] ?? {};
  return last.state === 'denied' ? pass(`${reason}: ${message}`) : fail(`it is ${last.state}`);
};

/**
 * Passes when the leaf has no name of the stub. Its creator may write anything into it, but the
 * kubelet's is empty (KEP-4317).
 */
export const copiesNothingFromStub: LeafAssertion = ({ leaf, request }) => {
  const { names } = request.requested;
  const stub = [
    ...(names.commonName === '' ? [] : [`CN ${names.commonName}`]),
    ...names.organizations.map((name) => `O ${name}`),
    ...names.dnsNames.map((name) => `DNS ${name}`),
    ...names.uris.map((name) => `URI ${name}`),
  ];
  const copied = namesOf(leaf).filter((name) => stub.includes(name));
  return unless(
    copied.length === 0 ? undefined : `copied from the stub: ${copied.join(', ')}`,
    namesOf(leaf).join(', '),
  );
};
