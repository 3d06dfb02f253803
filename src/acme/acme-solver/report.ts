// SPDX-License-Identifier: Apache-2.0
import type { Challenge, SolverReport } from '#api/acme/challenge.ts';
import type { KubeObject } from '#api/object/object.ts';
import { conditionMessage } from '#api/request/conditions.ts';
import { formatTime } from '#api/object/time.ts';
import type { SolverOutcome } from '../solving/solver.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import type { SolverTask } from './decide.ts';
import { CHALLENGE_RESOURCE } from './watched.ts';
import * as messages from './messages.ts';

/** Limits of the CRD. */
const MAX_MESSAGE_BYTES = 4096;
const MAX_PLACE_BYTES = 1024;

/** Reason of a route that is presented and that its Gateway does not serve. */
const NOT_ADMITTED = 'RouteNotAdmitted';

/** JSON merge patch (RFC 7386). */
const MERGE_PATCH = 'application/merge-patch+json';

/** New `status.solver`. Null removes a field. */
type Change = { readonly [K in keyof SolverReport]-?: NonNullable<SolverReport[K]> | null };

/**
 * Writes the result of an attempt into `status.solver` only, so that no other writer of the status
 * conflicts. Records an Event for a failure.
 *
 * @param waitMs - time until the solver's next call, after a failure
 * @returns the Challenge as written
 */
export async function report(
  component: Component,
  challenge: Challenge,
  {
    task,
    outcome,
    waitMs,
  }: {
    readonly task: SolverTask;
    readonly outcome: SolverOutcome;
    readonly waitMs: number;
  },
): Promise<KubeObject> {
  const now = serverTime(component);
  const solver =
    outcome.kind === 'done' ? succeeded(task, outcome.at, now) : failed(outcome, now + waitMs);
  const written = await patchSolver(component, challenge, solver);
  recordEvent(component, challenge, task, outcome);
  return written;
}

/**
 * Writes why what is presented is not served, if that changed. Keeps the time of the presentation.
 *
 * @returns the Challenge as written, or undefined without a change
 */
export async function reportLook(
  component: Component,
  challenge: Challenge,
  problem: string | undefined,
): Promise<KubeObject | undefined> {
  const { metadata, status } = challenge;
  const message = problem === undefined ? null : conditionMessage(problem, MAX_MESSAGE_BYTES);
  if (message === (status.solver?.message ?? null)) return undefined;
  const reason = message === null ? null : NOT_ADMITTED;
  if (message !== null) component.log.warn({ name: metadata.name, error: message }, NOT_ADMITTED);
  return patchSolver(component, challenge, { reason, message });
}

function patchSolver(
  { client }: Pick<Component, 'client'>,
  { metadata }: Challenge,
  solver: Partial<Change>,
): Promise<KubeObject> {
  return client.request<KubeObject>({
    method: 'PATCH',
    path: CHALLENGE_RESOURCE.object(metadata, 'status'),
    contentType: MERGE_PATCH,
    // The uid is a precondition, so that a later Challenge of this name stays unchanged.
    body: JSON.stringify({ metadata: { uid: metadata.uid }, status: { solver } }),
  });
}

function succeeded(task: SolverTask, at: string | undefined, now: number): Change {
  return {
    presented: task === 'present',
    at: task === 'present' && at !== undefined ? conditionMessage(at, MAX_PLACE_BYTES) : null,
    changedAt: formatTime(now),
    reason: null,
    message: null,
    nextAttemptAt: null,
  };
}

function failed(
  { reason, message }: Extract<SolverOutcome, { kind: 'problem' }>,
  until: number,
): Partial<Change> {
  return {
    reason,
    message: conditionMessage(message, MAX_MESSAGE_BYTES),
    nextAttemptAt: formatTime(until),
  };
}

function recordEvent(
  { events, log }: Component,
  { apiVersion, kind, metadata }: Challenge,
  task: SolverTask,
  outcome: SolverOutcome,
): void {
  const { namespace = '', name, uid } = metadata;
  const named = { kind, namespace, name };
  if (outcome.kind === 'problem') {
    const { reason, message } = outcome;
    log.warn({ ...named, task, reason, error: message }, messages.SOLVER_FAILED);
    const regarding = { apiVersion, kind, namespace, name, uid };
    events.record({ regarding, type: 'Warning', reason, action: ACTIONS[task], note: message });
    return;
  }
  const { at = 'done' } = outcome;
  log.info({ ...named, at }, task === 'present' ? 'presented' : messages.CLEANED_UP);
}

const ACTIONS = { present: 'Present', cleanUp: 'CleanUp' } as const;
