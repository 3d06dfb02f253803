// SPDX-License-Identifier: Apache-2.0
import { issuedLeafOf, isAssertionResult, type IssuedLeaf } from './issued-leaf.ts';
import type { Certificate } from '../pki/x509/certificate.ts';
import { skip, type AssertionResult } from './case.ts';
import type { ConformanceProfile } from './profile.ts';
import {
  isSkipped,
  type ScenarioResult,
  type Skipped,
  type ObservedRequest,
} from './observed-request.ts';

/** CA certificates that a verifier has, and where it has them from. */
export interface Anchors {
  readonly certificates: readonly Certificate[];
  /** `ClusterTrustBundle example.com:workload:primary`, or a file's name. */
  readonly from: string;
}

/** One call of Kubernetes' own API tests, made again. */
export interface Operation {
  /** What came of it, in a sentence; a fault says what was wrong instead. */
  readonly seen?: string;
  readonly fault?: string;
  readonly skipped?: string;
}

/** What one run observed of one signer through one kind of request. */
export interface RequestSnapshot<S extends string, O extends string = never> {
  readonly signerName: string;
  readonly profile: ConformanceProfile;
  readonly scenarios: Readonly<Record<S, ScenarioResult>>;
  /** Requests made at once. */
  readonly burst: readonly ObservedRequest[] | Skipped;
  readonly anchors: Anchors | Skipped;
  readonly operations: Readonly<Record<O, Operation>>;
}

/** What assertions need of a snapshot besides the scenario itself. */
export type AssertionContext = Pick<RequestSnapshot<never>, 'signerName' | 'profile' | 'anchors'>;

/** An assertion about an issued certificate. */
export type LeafAssertion = (issued: IssuedLeaf, context: AssertionContext) => AssertionResult;

/** An assertion about a request, issued or not. */
export type RequestAssertion = (
  request: ObservedRequest,
  context: AssertionContext,
) => AssertionResult;

type WithScenarios<S extends string> = AssertionContext & {
  readonly scenarios: Readonly<Record<S, ScenarioResult>>;
};

/** Evaluates the certificate of a scenario; skips the case when there is none. */
export function onLeaf<S extends string>(
  scenario: S,
  assertion: LeafAssertion,
): (snapshot: WithScenarios<S>) => AssertionResult {
  return (snapshot) => {
    const issued = issuedLeafOf(snapshot.scenarios[scenario]);
    return isAssertionResult(issued) ? issued : assertion(issued, snapshot);
  };
}

/** Evaluates a scenario that the runner tried, also when the API server rejected the request. */
export function onRequest<S extends string>(
  scenario: S,
  assertion: RequestAssertion,
): (snapshot: WithScenarios<S>) => AssertionResult {
  return (snapshot) => {
    const found = snapshot.scenarios[scenario];
    return isSkipped(found) ? skip(found.skipped) : assertion(found, snapshot);
  };
}

/** Evaluates two scenarios together. */
export function onPair<S extends string>(
  scenario: S,
  other: S,
  assertion: (request: ObservedRequest, other: ObservedRequest) => AssertionResult,
): (snapshot: WithScenarios<S>) => AssertionResult {
  return ({ scenarios }) => {
    const [first, second] = [scenarios[scenario], scenarios[other]];
    if (isSkipped(first)) return skip(first.skipped);
    return isSkipped(second) ? skip(second.skipped) : assertion(first, second);
  };
}

/**
 * Evaluates the other scenarios once the runner has deleted a request; skips when it may not
 * delete.
 */
export function afterDeletion<
  S extends { readonly scenarios: { readonly deleted: ScenarioResult } },
>(judge: (snapshot: S) => AssertionResult): (snapshot: S) => AssertionResult {
  return (snapshot) => {
    const { deleted } = snapshot.scenarios;
    return isSkipped(deleted) ? skip(deleted.skipped) : judge(snapshot);
  };
}

/** Evaluates all scenarios that the runner tried, and the burst. */
export function onAll<S extends string>(
  assertion: (requests: readonly ObservedRequest[], context: AssertionContext) => AssertionResult,
): (
  snapshot: Pick<RequestSnapshot<S>, 'scenarios' | 'burst'> & AssertionContext,
) => AssertionResult {
  return (snapshot) => {
    const scenarios: readonly ScenarioResult[] = Object.values(snapshot.scenarios);
    const burst = isSkipped(snapshot.burst) ? [] : snapshot.burst;
    const requests = [...scenarios.filter(wasMade), ...burst];
    if (requests.length > 0) return assertion(requests, snapshot);
    return skip('no request could be made');
  };
}

function wasMade(scenario: ScenarioResult): scenario is ObservedRequest {
  return !isSkipped(scenario);
}

/** Evaluates the requests that the runner created at the same time. */
export function onBurst(
  assertion: (requests: readonly ObservedRequest[], context: AssertionContext) => AssertionResult,
): (snapshot: Pick<RequestSnapshot<never>, 'burst'> & AssertionContext) => AssertionResult {
  return (snapshot) =>
    isSkipped(snapshot.burst) ? skip(snapshot.burst.skipped) : assertion(snapshot.burst, snapshot);
}

/** Evaluates a call of the API itself. */
export function onOperation<O extends string>(
  name: O,
): (snapshot: { readonly operations: Readonly<Record<O, Operation>> }) => AssertionResult {
  return ({ operations }) => {
    const { seen, fault, skipped } = operations[name];
    if (skipped !== undefined) return skip(skipped);
    if (fault !== undefined) return { outcome: 'fail', evidence: fault };
    return { outcome: 'pass', evidence: seen ?? '' };
  };
}

/** What upstream's tests of API resources have in common, whatever the kind. */

/** The discovery documents that upstream's tests read. */
export const DISCOVERIES = ['discoveryGroups', 'discoveryGroup', 'discoveryResources'] as const;

/** One of {@link DISCOVERIES}. */
export type Discovery = (typeof DISCOVERIES)[number];

/** The kinds of patch that the API server takes. */
export const PATCHES = ['applyPatch', 'strategicPatch', 'mergePatch', 'jsonPatch'] as const;

/** One of {@link PATCHES}. */
export type Patch = (typeof PATCHES)[number];
