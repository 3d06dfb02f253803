// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import type { Clock, Delay, Log, Monotonic } from '../../ports.ts';
import { ignoreNotFound } from '../client/kube-error.ts';
import { createWakeup, type Wakeup } from '../wait/wakeup.ts';
import type { Client } from '../client/client.ts';
import type { LeaseMetrics } from './shard-filter.ts';
import type { Elector, Step } from './elector.ts';
import { KubeError } from '../client/kube-error.ts';
import {
  heldSpec,
  type Lease,
  LEASES,
  type LeaseSpec,
  type LeaseTimes,
  releasedSpec,
} from './lease.ts';
import { withoutManagedFields } from '../resource/object.ts';
import { withTimeout } from '../wait/timeout.ts';

export interface LeaseRenewerInit {
  readonly client: Client;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly delay: Delay;
  readonly log: Log;
  readonly metrics: Pick<LeaseMetrics, 'leaseFailed'>;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly identity: string;
  readonly times: LeaseTimes;
  readonly election: Elector;
  /** How it is given back: a Lease of one process's own is deleted. */
  readonly end: 'delete' | 'release';
  /** Takes in what a write of ours was answered with, so that no stale watch follows it. */
  readonly observe: (lease: Lease) => void;
  /** After every step: what is held, or known, may have changed. */
  readonly onStep: () => void;
}

/** Stands for one Lease, and renews it while it has it. */
export interface LeaseRenewer {
  /** Until `signal` is aborted; then gives the Lease back, and resolves. */
  run(signal: AbortSignal): Promise<void>;
  /** What the watch said of the Lease; undefined: it is gone. */
  saw(lease: Lease | undefined): void;
  /** Why the last attempt failed; undefined when it did not. */
  readonly failure: unknown;
}

/** A replica that ends must not wait for an API server that is gone. */
const GIVE_BACK_MS = 2_000;
/** The renewal that the stop cut off may have landed: then the version is another one. */
const GIVE_BACK_TRIES = 2;

export function createLeaseRenewer(init: LeaseRenewerInit): LeaseRenewer {
  return new RunningHolder(init);
}

class RunningHolder implements LeaseRenewer {
  failure: unknown;
  readonly #init: LeaseRenewerInit;
  readonly #bell: Wakeup;

  constructor(init: LeaseRenewerInit) {
    this.#init = init;
    this.#bell = createWakeup(init.delay);
  }

  saw(lease: Lease | undefined): void {
    const { election, monotonic, onStep } = this.#init;
    election.saw(lease, monotonic());
    onStep();
    this.#bell.wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { election, monotonic, onStep } = this.#init;
    while (!signal.aborted) {
      const now = monotonic();
      const step = election.next(now);
      if (step.kind === 'wait') {
        const until = election.heldUntil(now) ?? Infinity;
        await this.#bell.wait(Math.min(step.ms, until - now), signal);
      } else await this.#attempt(step, signal);
      onStep();
    }
    const lease = election.resign();
    onStep();
    if (lease !== undefined) await this.#giveBack(lease, GIVE_BACK_TRIES);
  }

  async #attempt(step: Exclude<Step, { kind: 'wait' }>, outer: AbortSignal): Promise<void> {
    const { election, monotonic, times, delay } = this.#init;
    const now = monotonic();
    election.began(now);
    // client-go's: half of the deadline, so that one lost answer does not end a term.
    const ms = Math.min(times.deadlineMs / 2, (election.heldUntil(now) ?? Infinity) - now);
    try {
      await withTimeout({ delay, ms, outer }, (signal) => this.#take(step, signal));
      this.#well();
    } catch (error) {
      if (!outer.aborted) this.#failed(error);
    }
  }

  async #take(step: Exclude<Step, { kind: 'wait' }>, signal: AbortSignal): Promise<void> {
    const { election, monotonic, observe } = this.#init;
    if (step.kind === 'read') return this.#read(signal);
    const sentAt = monotonic();
    try {
      const lease = await this.#write(step.kind === 'create' ? undefined : step.from, signal);
      election.wrote(lease, sentAt, monotonic());
      observe(lease);
    } catch (error) {
      if (!isOvertaken(error, step)) throw error;
      await this.#read(signal);
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { client, election, monotonic } = this.#init;
    const lease = await client
      .request<Lease>({ method: 'GET', path: LEASES.object(this.#init), signal })
      .catch(ignoreNotFound);
    election.saw(lease, monotonic());
  }

  #write(from: Lease | undefined, signal: AbortSignal): Promise<Lease> {
    const { client, clock, namespace, name, labels, identity, times } = this.#init;
    const { durationSeconds } = times;
    const spec = heldSpec(from?.spec, { identity, durationSeconds }, clock());
    if (from !== undefined) return this.#put(from, spec, signal);
    const body = { ...KIND, metadata: { namespace, name, labels }, spec };
    return client.request({ method: 'POST', path: LEASES.collection(namespace), body, signal });
  }

  /** With the UID as well: Leases can be made by PUT, and a deleted one must stay deleted. */
  #put(from: Lease, spec: LeaseSpec, signal: AbortSignal): Promise<Lease> {
    const { client, labels } = this.#init;
    const { metadata } = withoutManagedFields(from);
    const own = { ...metadata, labels: { ...metadata.labels, ...labels } };
    const body = { ...KIND, metadata: own, spec };
    return client.request({ method: 'PUT', path: LEASES.object(metadata), body, signal });
  }

  async #giveBack(lease: Lease, tries: number): Promise<void> {
    const { client, election, delay, log, name } = this.#init;
    const outer = new AbortController().signal;
    try {
      await withTimeout({ delay, ms: GIVE_BACK_MS, outer }, (signal) => this.#end(lease, signal));
      log.debug({ lease: name }, 'the Lease was given back');
    } catch (error) {
      const fresh =
        error instanceof KubeError && error.status === 409
          ? await client
              .request<Lease>({ method: 'GET', path: LEASES.object(this.#init), signal: outer })
              .catch(() => undefined)
          : undefined;
      if (fresh !== undefined) election.saw(fresh, this.#init.monotonic());
      const mine = election.resign();
      if (mine !== undefined && mine !== lease && tries > 1) await this.#giveBack(mine, tries - 1);
      else log.debug({ lease: name, error: messageOf(error) }, 'the Lease runs out by itself');
    }
  }

  async #end(lease: Lease, signal: AbortSignal): Promise<void> {
    const { client, clock, end } = this.#init;
    const { uid, resourceVersion } = lease.metadata;
    if (end === 'release') {
      await this.#put(lease, releasedSpec(lease.spec ?? {}, clock()), signal);
      return;
    }
    const body = { preconditions: { uid, resourceVersion } };
    const path = LEASES.object(lease.metadata);
    await client.request({ method: 'DELETE', path, body, signal });
  }

  #well(): void {
    const { log, name } = this.#init;
    if (this.failure !== undefined) log.info({ lease: name }, 'the Lease can be renewed again');
    this.failure = undefined;
  }

  #failed(error: unknown): void {
    const { log, metrics, name } = this.#init;
    metrics.leaseFailed();
    // Once for each trouble: it is tried again every few seconds.
    if (this.failure === undefined || messageOf(error) !== messageOf(this.failure)) {
      log.warn({ lease: name, error: messageOf(error) }, 'the Lease could not be read or written');
    }
    this.failure = error;
  }
}

const KIND = { apiVersion: LEASES.apiVersion, kind: 'Lease' } as const;

/** Somebody was faster, or a write of ours landed whose answer was lost: a fresh look tells. */
function isOvertaken(error: unknown, step: Step): boolean {
  if (!(error instanceof KubeError)) return false;
  return error.status === 409 || (error.status === 404 && step.kind === 'update');
}
