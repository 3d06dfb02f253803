// SPDX-License-Identifier: Apache-2.0
/**
 * Handles requests of every kind: creates them, treats them as planned, and observes them until the
 * run ends.
 */
import { recordOf } from '#base/object-keys.ts';
import type { KubeObject } from '#api/object/object.ts';
import {
  isSkipped,
  type ScenarioResult,
  type ObjectVersion,
  type ObservedRequest,
  type RequestedLeaf,
  type SkippedScenario,
} from '../observed-request.ts';
import { messageOf } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resend } from '#kube/client/resend.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { inParallel } from '#base/in-parallel.ts';
import type { RequestPlan } from './plans.ts';
import type { Recorder } from './recorder.ts';
import type { Run } from './run.ts';

const NOT_PLANNED = 'the runner has no such request';

/** A plan, and the runner's observation of its request so far. */
export interface PlannedRequest<P extends RequestPlan> {
  readonly plan: P;
  readonly observed: () => ScenarioResult;
}

/** The functions by which one kind creates and handles a request. */
export interface Creation<T extends KubeObject> {
  readonly run: Run;
  readonly recorder: Recorder<T>;
  /** The permission that the user lacks, or undefined. */
  readonly missing: string | undefined;
  /** @throws KubeError when the API server rejects it */
  readonly create: () => Promise<T>;
  /**
   * Approves, denies, deletes or waits, as planned. Resolves with the number of the runner's own
   * writes.
   */
  readonly treat: (created: T) => Promise<number>;
  /** Returns a version. @param at - milliseconds since its creation */
  readonly version: (object: T, at: number) => ObjectVersion;
}

/** The number of attempts to decide a request. Another approver may write at the same moment. */
const ATTEMPTS = 5;

/**
 * A 403 that has nothing to do with the contents of a request: from an authorizer, from the quota
 * of the namespace, because the namespace is being deleted, or before admission is ready.
 */
const UNRELATED_403 =
  /User "[^"]*" cannot |\bquota\b|because it is being terminated|not yet ready to handle request/;

/**
 * Creates the request, treats it as planned, and waits for its answer. Skips the scenario if the
 * API server neither stores the request nor rejects its contents: this shows nothing of the signer.
 * @throws KubeError when a call fails
 */
export async function createPlanned<P extends RequestPlan, T extends KubeObject>(
  plan: P,
  { run, recorder, missing, create, treat, version }: Creation<T>,
): Promise<PlannedRequest<P>> {
  if (missing !== undefined) return { plan, observed: () => ({ skipped: missing }) };
  const facts = (at: number): Omit<ObservedRequest, 'versions'> =>
    observationFacts(run, recorder, plan.requested, at);
  let created: T;
  try {
    created = await resend(create, { ...run, maxWaitMs: run.timeoutMs, isTransient });
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === 0) throw error;
    const rejection = messageOf(error);
    if (!rejectsContents(error)) {
      const skipped = `the API server neither stored nor rejected it: ${rejection}`;
      return { plan, observed: () => ({ skipped }) };
    }
    const at = run.clock();
    return { plan, observed: () => ({ ...facts(at), versions: [], rejection }) };
  }
  const at = run.clock();
  recorder.add(created);
  const runnerWrites = await treat(created);
  const versions = (): readonly ObjectVersion[] =>
    versionsSince(recorder, created.metadata.uid, at, version);
  return { plan, observed: () => ({ ...facts(at), versions: versions(), runnerWrites }) };
}

/**
 * Each attempt to create uses a new name, so the object of a lost answer is not in the way. The
 * client itself sends again after 429.
 */
function isTransient({ code }: KubeError): boolean {
  return code === 'KUBE_UNAVAILABLE';
}

/** Reports whether decoding, validation or admission rejected the contents of the request. */
function rejectsContents({ status, message }: KubeError): boolean {
  return status === 400 || status === 422 || (status === 403 && !UNRELATED_403.test(message));
}

/**
 * Returns the common facts of every observed request of a run. `createdAt` and `endedAt` are by the
 * API server's clock.
 *
 * @param at - the creation in milliseconds of the local clock
 */
export function observationFacts<T>(
  run: Run,
  recorder: Recorder<T>,
  requested: RequestedLeaf,
  at: number,
): Omit<ObservedRequest, 'versions'> {
  const offset = run.client.clockOffset();
  return {
    requested,
    isComplete: recorder.isComplete,
    runnerWrites: 0,
    createdAt: at - offset,
    endedAt: run.clock() - offset,
    waitedMs: run.timeoutMs,
  };
}

/**
 * Returns the recorded versions of an object. @param createdAt - milliseconds of the local clock
 */
export function versionsSince<T>(
  recorder: Recorder<T>,
  uid: string,
  createdAt: number,
  version: (object: T, at: number) => ObjectVersion,
): readonly ObjectVersion[] {
  return recorder
    .versionsOf(uid)
    .map(({ object, at }) => version(object, Math.max(0, at - createdAt)));
}

/** Returns `conformance-<run>-<scenario>-<random>`. */
export function requestName({ id, random }: Run, scenario: string): string {
  const unique = Buffer.from(random(3)).toString('hex');
  return `conformance-${id}-${scenario.toLowerCase()}-${unique}`;
}

/** Creates all requests, a few at a time, and then the burst at once. */
export async function createAll<P extends RequestPlan>(
  plans: readonly P[],
  create: (plan: P) => Promise<PlannedRequest<P>>,
): Promise<readonly PlannedRequest<P>[]> {
  const single = plans.filter(({ scenario }) => scenario !== 'burst');
  const burst = plans.filter(({ scenario }) => scenario === 'burst');
  const created = await inParallel(single, create);
  return [...created, ...(await Promise.all(burst.map(create)))];
}

/** Returns the observations by scenario. Scenarios without a request are skipped. */
export function scenariosOf<S extends string, P extends RequestPlan>(
  names: readonly S[],
  created: readonly PlannedRequest<P>[] | SkippedScenario,
): Readonly<Record<S, ScenarioResult>> {
  const requests = 'skipped' in created ? [] : created;
  const otherwise = 'skipped' in created ? created : { skipped: NOT_PLANNED };
  const found = new Map(requests.map(({ plan, observed }) => [plan.scenario, observed()]));
  return recordOf(names.map((name) => [name, found.get(name) ?? otherwise]));
}

/** Returns the requests of the burst. Skips all if one of them is skipped. */
export function burstOf<P extends RequestPlan>(
  created: readonly PlannedRequest<P>[] | SkippedScenario,
): readonly ObservedRequest[] | SkippedScenario {
  if ('skipped' in created) return created;
  const burst = created.filter(({ plan }) => plan.scenario === 'burst');
  const observations = burst.map(({ observed }) => observed());
  const skipped = observations.find(isSkipped);
  if (skipped !== undefined) return skipped;
  const requests = observations.filter((each): each is ObservedRequest => !isSkipped(each));
  return requests.length === 0 ? { skipped: NOT_PLANNED } : requests;
}

/** The runner's treatment of a created request. */
export type Treatment = 'approve' | 'leave' | 'deny' | 'delete';

/** The functions by which one kind writes the condition Approved or Denied. */
export interface ApprovalWrite<T extends KubeObject> {
  readonly run: Run;
  readonly recorder: Recorder<T>;
  readonly resource: Resource;
  /** The permissions to decide a request. */
  readonly permissions: readonly PermissionRule[];
  readonly isDecided: (request: T) => boolean;
  readonly write: (request: T, type: 'Approved' | 'Denied') => Promise<T>;
  /** HTTP status codes after which the runner reads the request again and tries once more. */
  readonly retried: readonly number[];
}

/**
 * Approves, denies, deletes or leaves the request. A runner that may not decide leaves it.
 *
 * @returns the number of the runner's own writes
 */
export async function treatAs<T extends KubeObject>(
  treatment: Treatment,
  created: T,
  kind: ApprovalWrite<T>,
): Promise<number> {
  const { run, resource, permissions } = kind;
  if (treatment === 'leave') return 0;
  if (treatment === 'delete') {
    await run.client.request({ method: 'DELETE', path: resource.object(created.metadata) });
    return 0;
  }
  const missing = await run.permissions.missing(...permissions);
  if (missing !== undefined) return 0;
  return decide(created, treatment === 'deny' ? 'Denied' : 'Approved', kind);
}

/**
 * Approves or denies, unless another approver was faster. After a conflict, the request's name may
 * belong to another object, which another client created. The runner decides only its own.
 *
 * @returns the number of the runner's own writes
 */
async function decide<T extends KubeObject>(
  created: T,
  type: 'Approved' | 'Denied',
  { run, recorder, resource, isDecided, write, retried }: ApprovalWrite<T>,
): Promise<number> {
  let now = created;
  for (let attempt = 0; attempt < ATTEMPTS && !isDecided(now); attempt++) {
    try {
      recorder.add(await write(now, type));
      return 1;
    } catch (error) {
      if (!(error instanceof KubeError) || !retried.includes(error.status)) throw error;
      now = await run.client.request<T>({ method: 'GET', path: resource.object(now.metadata) });
      if (now.metadata.uid !== created.metadata.uid) return 0;
    }
  }
  return 0;
}
