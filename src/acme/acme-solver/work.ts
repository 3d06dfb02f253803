// SPDX-License-Identifier: Apache-2.0
import type { ChallengeSolver, ChallengeToSolve, SolverOutcome } from '../solving/solver.ts';
import { isToBePresented, readChallengeObject, type Challenge } from '#api/acme/challenge.ts';
import { parseTime } from '#api/object/time.ts';
import { messageOf, SignerError } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import { failuresAfter, solverWait, taskOf, type SolverTask } from './decide.ts';
import { report, reportLook } from './report.ts';
import type { SolverLookup } from './lookup.ts';
import type { SolverWatches } from './watched.ts';
import * as messages from './messages.ts';

/** State of a Challenge outside its status. */
interface Memory {
  readonly challenge: ChallengeToSolve;
  /** The solver that presented it, or tried to. */
  solver: ChallengeSolver | undefined;
  /** Whether a solver may have presented a value that no status shows. */
  touched: boolean;
  /** Consecutive failed attempts. */
  failures: number;
  /** Time of the next attempt, by the API server's clock. */
  nextAt: number;
  /** Time at which the object was found deleted. */
  goneAt: number | undefined;
}

/** Time limit of a solver's call. */
const SOLVER_CALL_MS = 60_000;
/** Interval of looks at what is presented and not found: one write to the API server each. */
const ROUTE_LOOK_MS = 30_000;
/** Time limit of the clean-up for a deleted Challenge. `acme` would have waited as long. */
const LEFTOVER_MS = 10 * 60_000;

/** Calls solvers for Challenges, one call at a time for each. */
export class SolverWork {
  readonly #component: Component;
  readonly #watched: SolverWatches;
  readonly #lookup: SolverLookup;
  readonly #memories = new Map<string, Memory>();
  /** Times of the next looks at what is presented, by the API server's clock. */
  readonly #looks = new Map<string, number>();

  constructor(component: Component, watched: SolverWatches, lookup: SolverLookup) {
    this.#component = component;
    this.#watched = watched;
    this.#lookup = lookup;
  }

  /** Allows a call at once after a dependency of the solver changed. */
  hasten(key: string): void {
    const memory = this.#memories.get(key);
    if (memory !== undefined) memory.nextAt = 0;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    if (!this.#component.shard.owns(key)) return undefined;
    if (!this.#watched.settled()) return 'backoff';
    const object = this.#watched.challenges.get(key);
    const memory = this.#memories.get(key);
    if (memory !== undefined && object?.metadata.uid !== memory.challenge.uid) {
      const left = await this.#cleanUpLeftover(key, memory, signal);
      if (left !== undefined) return left;
    }
    if (object === undefined) {
      this.#looks.delete(key);
      return undefined;
    }
    const challenge = readChallengeObject(object);
    const task = taskOf(challenge, this.#memories.get(key)?.touched === true);
    if (task === undefined) {
      this.#memories.delete(key);
      return this.#look(key, challenge, signal);
    }
    return this.#attempt(key, challenge, task, signal);
  }

  /** Looks at what is presented again while the self-check does not find it. */
  async #look(key: string, challenge: Challenge, signal: AbortSignal): Promise<ReconcileResult> {
    const found = isUnseen(challenge) ? this.#lookup(challenge) : undefined;
    const look = found !== undefined && 'solver' in found ? found.solver.look : undefined;
    if (look === undefined) {
      this.#looks.delete(key);
      return undefined;
    }
    const now = serverTime(this.#component);
    const nextAt = this.#looks.get(key) ?? now + ROUTE_LOOK_MS;
    if (nextAt > now) {
      this.#looks.set(key, nextAt);
      return requeueAt(this.#component, nextAt);
    }
    this.#looks.set(key, now + ROUTE_LOOK_MS);
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(SOLVER_CALL_MS)]);
    const message = await look(toSolve(challenge), timeout);
    const written = await reportLook(this.#component, challenge, message);
    if (written !== undefined) this.#watched.challenges.applyWrite(written);
    return requeueAt(this.#component, now + ROUTE_LOOK_MS);
  }

  async #attempt(
    key: string,
    challenge: Challenge,
    task: SolverTask,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const found = this.#lookup(challenge);
    if (found === undefined) return undefined;
    const memory = this.#memoryOf(key, challenge);
    if (memory.nextAt > serverTime(this.#component)) {
      return requeueAt(this.#component, memory.nextAt);
    }
    memory.solver = 'solver' in found ? found.solver : memory.solver;
    const outcome =
      memory.solver === undefined || (task === 'present' && 'problem' in found)
        ? toOutcome(found)
        : await this.#call(memory.solver, task, memory, signal);
    return this.#note(key, challenge, memory, { task, outcome });
  }

  async #note(
    key: string,
    challenge: Challenge,
    memory: Memory,
    { task, outcome }: { readonly task: SolverTask; readonly outcome: SolverOutcome },
  ): Promise<ReconcileResult> {
    const isDone = outcome.kind === 'done';
    memory.failures = failuresAfter(memory.failures, outcome);
    const waitMs = isDone ? 0 : solverWait(memory.failures, outcome.retryAfterMs);
    memory.nextAt = isDone ? 0 : serverTime(this.#component) + waitMs;
    try {
      const written = await report(this.#component, challenge, { task, outcome, waitMs });
      this.#watched.challenges.applyWrite(written);
    } catch (error) {
      // The object is gone. The watch delivers it, and then the value is removed.
      if (!(error instanceof KubeError) || ![404, 409].includes(error.status)) throw error;
      return 'backoff';
    }
    if (isDone) this.#memories.delete(key);
    return isDone ? undefined : requeueAt(this.#component, memory.nextAt);
  }

  async #call(
    solver: ChallengeSolver,
    task: SolverTask,
    memory: Memory,
    signal: AbortSignal,
  ): Promise<SolverOutcome> {
    if (task === 'present') memory.touched = true;
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(SOLVER_CALL_MS)]);
    try {
      const outcome = await solver[task](memory.challenge, timeout);
      if (task === 'cleanUp' && outcome.kind === 'done') memory.touched = false;
      return outcome;
    } catch (error) {
      if (signal.aborted) throw error;
      return faultOf(error);
    }
  }

  /**
   * Removes the value of a deleted Challenge, by the solver that presented it. Another object may
   * have its name.
   */
  async #cleanUpLeftover(
    key: string,
    memory: Memory,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const { log } = this.#component;
    const now = serverTime(this.#component);
    memory.goneAt ??= now;
    if (!memory.touched || memory.solver === undefined) {
      this.#memories.delete(key);
      return undefined;
    }
    if (memory.nextAt > now) return requeueAt(this.#component, memory.nextAt);
    const outcome = await this.#call(memory.solver, 'cleanUp', memory, signal);
    if (outcome.kind === 'done' || now - memory.goneAt >= LEFTOVER_MS) {
      const { namespace, name, dnsName } = memory.challenge;
      const left = outcome.kind === 'done' ? undefined : outcome.message;
      if (left !== undefined) {
        log.warn({ namespace, name, dnsName, error: left }, messages.LEFT_BEHIND);
      }
      this.#memories.delete(key);
      return undefined;
    }
    memory.failures = failuresAfter(memory.failures, outcome);
    memory.nextAt = now + solverWait(memory.failures, outcome.retryAfterMs);
    return requeueAt(this.#component, memory.nextAt);
  }

  #memoryOf(key: string, challenge: Challenge): Memory {
    const known = this.#memories.get(key);
    if (known !== undefined) return known;
    const { nextAttemptAt } = challenge.status.solver ?? {};
    const memory: Memory = {
      challenge: toSolve(challenge),
      solver: undefined,
      touched: false,
      failures: 0,
      nextAt: nextAttemptAt === undefined ? 0 : parseTime(nextAttemptAt),
      goneAt: undefined,
    };
    this.#memories.set(key, memory);
    return memory;
  }
}

/** Reports whether the self-check of `acme` does not find what is presented. */
function isUnseen(challenge: Challenge): boolean {
  return isToBePresented(challenge) && challenge.status.reason === 'NotPropagated';
}

function toSolve({ metadata, spec }: Challenge): ChallengeToSolve {
  const { namespace = '', name, uid } = metadata;
  const { dnsName, wildcard, token, key } = spec;
  return { namespace, name, uid, dnsName, wildcard, token, key };
}

function toOutcome(found: ReturnType<SolverLookup>): SolverOutcome {
  if (found !== undefined && 'problem' in found) return { kind: 'problem', ...found.problem };
  return { kind: 'problem', reason: 'SolverNotFound', message: messages.NO_SOLVER };
}

/** Returns the outcome for a solver's error: an unreadable Secret, or a fault of its own. */
function faultOf(error: unknown): SolverOutcome {
  const message = messageOf(error);
  const reason = error instanceof SignerError ? 'CredentialUnusable' : 'SolverFault';
  return { kind: 'problem', reason, message };
}
