// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '#base/errors.ts';
import type { Delay, Log, Monotonic } from '#base/ports.ts';
import { KubeError } from '../client/kube-error.ts';
import { withTimeout } from '../wait/timeout.ts';
import { createWakeup, type Wakeup } from '../wait/wakeup.ts';
import type { Elector, ElectorStep } from './elector.ts';
import { createLeaseLock, type LeaseLock, type LeaseLockInit } from './lease-lock.ts';
import type { Lease } from './lease.ts';
import type { LeaseMetrics } from './shard-filter.ts';

export interface LeaseRenewerInit extends LeaseLockInit {
  readonly monotonic: Monotonic;
  readonly delay: Delay;
  readonly log: Log;
  readonly metrics: Pick<LeaseMetrics, 'leaseFailed'>;
  readonly elector: Elector;
  /** Receives the response to each write, so that a lagging watch does not contradict it. */
  readonly onWritten: (lease: Lease) => void;
  /** Runs after every step, when the holder may have changed. */
  readonly onStep: () => void;
}

/** The longest delay of a stopping replica for an API server that does not respond. */
const RELEASE_TIMEOUT_MS = 2_000;
/**
 * Two, because a renewal that the stop aborted may be stored, and the resourceVersion differs then.
 */
const RELEASE_TRIES = 2;

/** Acquires one Lease, renews it while it holds it, and releases it at the end. */
export class LeaseRenewer {
  /** The error of the last attempt, or undefined if it succeeded. */
  failure: unknown;
  readonly #init: LeaseRenewerInit;
  readonly #lock: LeaseLock;
  readonly #wakeup: Wakeup;

  constructor(init: LeaseRenewerInit) {
    this.#init = init;
    this.#lock = createLeaseLock(init);
    this.#wakeup = createWakeup(init.delay);
  }

  /** Stores the state of the Lease that a watch reports, or undefined if it was deleted. */
  observe(lease: Lease | undefined): void {
    const { elector, monotonic, onStep } = this.#init;
    elector.observe(lease, monotonic());
    onStep();
    this.#wakeup.wake();
  }

  /** Renews a held Lease soon, because its annotations have changed. */
  renew(): void {
    this.#init.elector.hasten(this.#init.monotonic());
    this.#wakeup.wake();
  }

  /** Runs until `signal` is aborted, then releases the Lease and resolves. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { elector, monotonic, onStep } = this.#init;
    while (!signal.aborted) {
      const now = monotonic();
      const step = elector.next(now);
      if (step.kind === 'wait') {
        const until = elector.heldUntil(now) ?? Infinity;
        await this.#wakeup.wait(Math.min(step.ms, until - now), signal);
      } else await this.#attempt(step, signal);
      onStep();
    }
    const lease = elector.resign();
    onStep();
    if (lease !== undefined) await this.#release(lease, RELEASE_TRIES);
  }

  async #attempt(step: Exclude<ElectorStep, { kind: 'wait' }>, outer: AbortSignal): Promise<void> {
    const { elector, monotonic, times, delay } = this.#init;
    const now = monotonic();
    elector.onAttempt(now);
    // The value of client-go: half of the deadline, so that one lost response does not lose the
    // Lease.
    const ms = Math.min(times.deadlineMs / 2, (elector.heldUntil(now) ?? Infinity) - now);
    try {
      await withTimeout({ delay, ms, outer }, (signal) => this.#carryOut(step, signal));
      this.#onSuccess();
    } catch (error) {
      if (!outer.aborted) this.#onFailure(error);
    }
  }

  async #carryOut(
    step: Exclude<ElectorStep, { kind: 'wait' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { elector, monotonic, onWritten } = this.#init;
    if (step.kind === 'read') return this.#read(signal);
    const sentAt = monotonic();
    try {
      const lease = await this.#lock.hold(step.kind === 'create' ? undefined : step.from, signal);
      elector.onRenewed(lease, sentAt, monotonic());
      onWritten(lease);
    } catch (error) {
      if (!isConflict(error, step)) throw error;
      await this.#read(signal);
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { elector, monotonic } = this.#init;
    const known = elector.lease?.metadata.resourceVersion;
    elector.onRead(await this.#lock.read(signal), known, monotonic());
  }

  async #release(lease: Lease, tries: number): Promise<void> {
    const { elector, delay, log, name } = this.#init;
    const outer = new AbortController().signal;
    const limit = { delay, ms: RELEASE_TIMEOUT_MS, outer };
    try {
      await withTimeout(limit, (signal) => this.#lock.release(lease, signal));
      log.debug({ lease: name }, 'lease released');
    } catch (error) {
      if (error instanceof KubeError && error.status === 409) {
        await this.#read(outer).catch(() => undefined);
      }
      const ours = elector.resign();
      if (ours !== undefined && ours !== lease && tries > 1) await this.#release(ours, tries - 1);
      else log.debug({ lease: name, error: messageOf(error) }, 'lease not released; it expires');
    }
  }

  #onSuccess(): void {
    const { log, name } = this.#init;
    if (this.failure !== undefined) log.info({ lease: name }, 'lease can be renewed again');
    this.failure = undefined;
  }

  #onFailure(error: unknown): void {
    const { log, metrics, name } = this.#init;
    metrics.leaseFailed();
    // Logs each error once: an attempt follows every few seconds.
    if (this.failure === undefined || messageOf(error) !== messageOf(this.failure)) {
      log.warn({ lease: name, error: messageOf(error) }, 'cannot acquire or renew lease, retrying');
    }
    this.failure = error;
  }
}

/**
 * Reports whether another process was faster, or the response to the own write was lost. A read
 * shows which.
 */
function isConflict(error: unknown, step: ElectorStep): boolean {
  if (!(error instanceof KubeError)) return false;
  return error.status === 409 || (error.status === 404 && step.kind === 'update');
}
