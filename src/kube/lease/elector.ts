// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../../ports.ts';
import { isNewer } from '../resource/object.ts';
import { holderOf, leaseMilliseconds, type Lease, type LeaseTimes } from './lease.ts';

/** What the holder of a Lease, or a candidate for it, does next. */
export type ElectorStep =
  /** Nothing for this many milliseconds, unless the Lease changes. */
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'read' }
  | { readonly kind: 'create' }
  /** A write with the UID and resourceVersion of this state as preconditions. */
  | { readonly kind: 'update'; readonly from: Lease };

export interface ElectorInit {
  /** `spec.holderIdentity`; unique to this process. */
  readonly identity: string;
  readonly times: LeaseTimes;
  /** No other process may hold this Lease: a holder that is found is a predecessor, and is replaced at once. */
  readonly exclusive: boolean;
  readonly random: Random;
}

/** Periods are spread by a fifth, so that candidates do not stay in step. */
const SPREAD = 0.2;
/** Between two renewals, however often what the holder reports with them changes. */
const LEAST_PERIOD_MS = 1_000;

/**
 * The rules of one candidate for one Lease, as client-go's `LeaderElector`, without network and clock.
 * All times are milliseconds of one monotonic clock of this process; times that others wrote are never
 * compared with it.
 *
 * - Another's Lease counts for its duration from the moment at which this process saw it change.
 * - Our own counts until a deadline that is shorter, from the moment at which the renewal that the API
 *   server accepted was _sent_: observers see it later and wait longer. A process that was stopped
 *   finds its deadline passed when it continues.
 * - Every write has the state on which it was decided as its precondition. Of several candidates one
 *   succeeds, and a candidate with a stale state cannot replace a holder that has renewed.
 */
export class Elector {
  /** The Lease as last seen. */
  lease: Lease | undefined;
  readonly #init: ElectorInit;
  /** Whether `lease` is a state that the API server sent; until then undefined means unknown. */
  #isKnown: boolean;
  /** When `lease` was first seen in its present state. */
  #seenAt = 0;
  #deadline: number | undefined;
  #nextAttempt = -Infinity;
  #lastAttempt = -Infinity;

  constructor(init: ElectorInit) {
    this.#init = init;
    // An exclusive Lease is created without a read: the response tells whether it exists.
    this.#isKnown = init.exclusive;
  }

  next(now: number): ElectorStep {
    const wait = this.#nextAttempt - now;
    if (wait > 0) return { kind: 'wait', ms: wait };
    if (!this.#isKnown) return { kind: 'read' };
    if (this.lease === undefined) return { kind: 'create' };
    const remaining = this.#remaining(now);
    return remaining > 0 ? { kind: 'wait', ms: remaining } : { kind: 'update', from: this.lease };
  }

  /** A step was started. The next one is a period later, unless the Lease changes. */
  onAttempt(now: number): void {
    const [byte = 0] = this.#init.random(1);
    this.#lastAttempt = now;
    this.#nextAttempt = now + this.#init.times.periodMs * (1 + (byte / 256) * SPREAD);
  }

  /** The next renewal of our own Lease is due now, or a second after the last one. */
  hasten(now: number): void {
    if (!this.#isOurs()) return;
    const soon = Math.max(now, this.#lastAttempt + LEAST_PERIOD_MS);
    this.#nextAttempt = Math.min(this.#nextAttempt, soon);
  }

  /**
   * What a read showed. A read never shows less than what was known before it was sent, unless etcd was restored from a
   * snapshot: its resourceVersions begin again then, and what was known is worth nothing.
   *
   * @param known - the resourceVersion that was known when the read was sent
   */
  onRead(lease: Lease | undefined, known: string | undefined, now: number): void {
    const shown = lease?.metadata.resourceVersion;
    if (shown !== undefined && known !== undefined && isNewer(known, shown)) this.lease = undefined;
    this.observe(lease, now);
  }

  /**
   * The state of the Lease on the API server; undefined if there is none. One that is older than what is known is
   * ignored: a watch may lag behind a read.
   */
  observe(lease: Lease | undefined, now: number): void {
    const before = this.lease?.metadata.resourceVersion;
    const isFirst = before === undefined;
    this.#isKnown = true;
    if (lease !== undefined && before !== undefined) {
      if (!isNewer(lease.metadata.resourceVersion, before)) return;
    }
    this.lease = lease;
    this.#seenAt = now;
    if (this.#isOurs()) return;
    this.#deadline = undefined;
    // A Lease that is free, or a predecessor's, is taken without waiting for the period. If another
    // process uses the same name, the period applies: both would otherwise write in a tight loop.
    const isFree = holderOf(lease?.spec) === undefined;
    if (isFree || (this.#init.exclusive && isFirst)) this.#nextAttempt = now;
  }

  /** The API server answered our write, which was sent at `sentAt`, with `lease`. */
  onRenewed(lease: Lease, sentAt: number, now: number): void {
    this.observe(lease, now);
    // A write of another process may have been observed before the response to ours.
    if (this.#isOurs()) this.#deadline = sentAt + this.#init.times.deadlineMs;
  }

  /** Stops holding the Lease at once, and returns it if it can be released. */
  resign(): Lease | undefined {
    this.#deadline = undefined;
    return this.#isOurs() ? this.lease : undefined;
  }

  /** Whether this process holds the Lease, and no other can believe that it does. */
  holds(now: number): boolean {
    return this.heldUntil(now) !== undefined;
  }

  /** When that ends without a renewal; undefined if this process does not hold the Lease. */
  heldUntil(now: number): number | undefined {
    return this.#deadline !== undefined && now < this.#deadline ? this.#deadline : undefined;
  }

  /** The Lease as last seen, if another process holds it and it has not expired. */
  otherHolder(now: number): Lease | undefined {
    return this.#isOurs() || this.#remaining(now) === 0 ? undefined : this.lease;
  }

  #isOurs(): boolean {
    return holderOf(this.lease?.spec) === this.#init.identity;
  }

  /** Milliseconds until this process may write the Lease; 0 also for its own. */
  #remaining(now: number): number {
    if (this.lease === undefined || this.#isOurs() || this.#init.exclusive) return 0;
    return Math.max(0, this.#seenAt + leaseMilliseconds(this.lease) - now);
  }
}
