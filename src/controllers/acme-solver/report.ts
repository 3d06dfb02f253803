// SPDX-License-Identifier: Apache-2.0
import type { Challenge, SolverReport } from '../../api/acme/index.ts';
import type { KubeObject } from '../../api/object/object.ts';
import { conditionMessage } from '../../api/request/conditions.ts';
import { formatTime } from '../../api/object/time.ts';
import type { SolverOutcome } from '../../acme-solving/solver.ts';
import type { Component } from '../../runtime/component/component.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import type { SolverTask } from './decide.ts';
import { CHALLENGE_RESOURCE } from './watched.ts';

/** As the CRD limits them. */
const MAX_MESSAGE_BYTES = 4096;
const MAX_PLACE_BYTES = 1024;

/** RFC 7386. */
const MERGE_PATCH = 'application/merge-patch+json';

/** `status.solver` to be; null takes a field away. */
type Change = { readonly [K in keyof SolverReport]-?: NonNullable<SolverReport[K]> | null };

/**
 * Writes what came of an attempt into `status.solver`, and nothing else: another writer of the status is not in the way.
 * An Event says what failed.
 *
 * @param waitMs - how long the solver is not called again, where it failed
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
  const { metadata } = challenge;
  const now = serverTime(component);
  const solver =
    outcome.kind === 'done' ? succeeded(task, outcome.at, now) : failed(outcome, now + waitMs);
  const written = await component.client.request<KubeObject>({
    method: 'PATCH',
    path: CHALLENGE_RESOURCE.object(metadata, 'status'),
    contentType: MERGE_PATCH,
    // With the uid as a precondition: a later Challenge of that name has nothing of ours.
    body: JSON.stringify({ metadata: { uid: metadata.uid }, status: { solver } }),
  });
  recordEvent(component, challenge, task, outcome);
  return written;
}

function succeeded(task: SolverTask, at: string | undefined, now: number): Change {
  return {
    presented: task === 'present',
    at: task === 'present' && at !== undefined ? conditionMessage(at, MAX_PLACE_BYTES) : null,
    changedAt: formatTime(now),
    ...{ reason: null, message: null, nextAttemptAt: null },
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
    log.warn({ ...named, task, reason, error: message }, 'solver failed, it is called again');
    const regarding = { apiVersion, kind, namespace, name, uid };
    events.record({ regarding, type: 'Warning', reason, action: ACTIONS[task], note: message });
    return;
  }
  const { at = 'done' } = outcome;
  log.info({ ...named, at }, task === 'present' ? 'presented' : 'cleaned up');
}

const ACTIONS = { present: 'Present', cleanUp: 'CleanUp' } as const;
