// SPDX-License-Identifier: Apache-2.0
import { issuedLeafOf, isAssertionResult, type IssuedLeaf } from './issued-leaf.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { skip, type AssertionResult } from './case.ts';
import type { ConformanceProfile } from './profile.ts';
import {
  isSkipped,
  type ScenarioResult,
  type SkippedScenario,
  type ObservedRequest,
} from './observed-request.ts';

/** CA certificates of a verifier, and their origin. */
export interface Anchors {
  readonly certificates: readonly Certificate[];
  /** `ClusterTrustBundle example.com:workload:primary`, or a file's name. */
  readonly from: string;
}

/** One repeated call of Kubernetes' own API tests. */
export interface Operation {
  /** The observation in a sentence. A `fault` replaces it. */
  readonly seen?: string;
  readonly fault?: string;
  readonly skipped?: string;
}

/** The observations of one run of one signer, through one kind of request. */
export interface RequestSnapshot<S extends string, O extends string = never> {
  readonly signerName: string;
  readonly profile: ConformanceProfile;
  readonly scenarios: Readonly<Record<S, ScenarioResult>>;
  /** Requests that were created at once. */
  readonly burst: readonly ObservedRequest[] | SkippedScenario;
  readonly anchors: Anchors | SkippedScenario;
  readonly operations: Readonly<Record<O, Operation>>;
}

/** The parts of a snapshot that assertions need besides the scenario itself. */
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

/** Evaluates the certificate of a scenario. Skips the case when there is none. */
export function onLeaf<S extends string>(
  scenario: S,
  assertion: LeafAssertion,
): (snapshot: WithScenarios<S>) => AssertionResult {
  return (snapshot) => evaluateLeaf(snapshot.scenarios[scenario], assertion, snapshot);
}

function evaluateLeaf(
  found: ScenarioResult,
  assertion: LeafAssertion,
  context: AssertionContext,
): AssertionResult {
  const issued = issuedLeafOf(found);
  return isAssertionResult(issued) ? issued : assertion(issued, context);
}

/** Evaluates a scenario that the runner tried, even if the API server rejected the request. */
export function onRequest<S extends string>(
  scenario: S,
  assertion: RequestAssertion,
): (snapshot: WithScenarios<S>) => AssertionResult {
  return (snapshot) => evaluateRequest(snapshot.scenarios[scenario], assertion, snapshot);
}

function evaluateRequest(
  found: ScenarioResult,
  assertion: RequestAssertion,
  context: AssertionContext,
): AssertionResult {
  return isSkipped(found) ? skip(found.skipped) : assertion(found, context);
}

type WithOrdinary = WithScenarios<'plain'> & {
  readonly scenarios: { readonly pod?: ScenarioResult };
};

/**
 * Returns the ordinary request: the runner's own, or a kubelet's if the runner may not create one.
 */
function ordinary({ scenarios: { plain, pod } }: WithOrdinary): ScenarioResult {
  return isSkipped(plain) && pod !== undefined ? pod : plain;
}

/** Evaluates the ordinary request. */
export function onOrdinary(
  assertion: RequestAssertion,
): (snapshot: WithOrdinary) => AssertionResult {
  return (snapshot) => evaluateRequest(ordinary(snapshot), assertion, snapshot);
}

/** Evaluates the certificate of the ordinary request. */
export function onOrdinaryLeaf(
  assertion: LeafAssertion,
): (snapshot: WithOrdinary) => AssertionResult {
  return (snapshot) => evaluateLeaf(ordinary(snapshot), assertion, snapshot);
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
 * Evaluates the other scenarios once the runner has deleted a request. Skips when it may not
 * delete.
 */
export function afterDeletion<S>(
  judge: (snapshot: S) => AssertionResult,
): (snapshot: S & WithScenarios<'deleted'>) => AssertionResult {
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

/** Constants of upstream's tests of API resources, for every kind. */

/** The discovery documents that upstream's tests read. */
export const DISCOVERIES = ['discoveryGroups', 'discoveryGroup', 'discoveryResources'] as const;

/** One of {@link DISCOVERIES}. */
export type Discovery = (typeof DISCOVERIES)[number];

/** The types of patch that the API server accepts. */
export const PATCHES = ['applyPatch', 'strategicPatch', 'mergePatch', 'jsonPatch'] as const;

/** One of {@link PATCHES}. */
export type Patch = (typeof PATCHES)[number];
