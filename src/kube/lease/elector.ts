// SPDX-License-Identifier: Apache-2.0
import type { Random } from '#base/ports.ts';
import { isNewer } from '../resource/object.ts';
import { holderOf, leaseMilliseconds, type Lease, type LeaseTimes } from './lease.ts';

/** The next step of the holder of a Lease, or of a candidate for it. */
export type ElectorStep =
  /** Wait for this many milliseconds, unless the Lease changes. */
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'read' }
  | { readonly kind: 'create' }
  /** A write with the UID and resourceVersion of this state as preconditions. */
  | { readonly kind: 'update'; readonly from: Lease };

export interface ElectorInit {
  /** `spec.holderIdentity`, unique to this process. */
  readonly identity: string;
  readonly times: LeaseTimes;
  /**
   * No other process may hold this Lease. A holder that is found is a predecessor, and is replaced
   * at once.
   */
  readonly exclusive: boolean;
  readonly random: Random;
}

/** The random share of a period, so that candidates do not stay in step. */
const SPREAD = 0.2;
/** The shortest time between two renewals, however often the holder's annotations change. */
const MIN_PERIOD_MS = 1_000;

/**
 * The rules of one candidate for one Lease, as in client-go's `LeaderElector`, without network and
 * clock. All times are milliseconds of one monotonic clock of this process. Times that others wrote
 * are never compared with it.
 *
 * - Another's Lease counts for its duration from the moment at which this process saw it change.
 * - The own Lease counts until a shorter deadline, from the moment at which the accepted renewal
 *   was _sent_. Observers see it later and wait longer. A process that was stopped finds its
 *   deadline passed when it continues.
 * - Every write has the state on which it was decided as its precondition. One of several
 *   candidates succeeds. A candidate with a stale state cannot replace a holder that has renewed.
 */
export class Elector {
  /** The Lease as last seen. */
  lease: Lease | undefined;
  readonly #init: ElectorInit;
  /** Whether `lease` is a state that the API server sent. Until then, undefined means unknown. */
  #isKnown: boolean;
  /** The time at which `lease` was first seen in its present state. */
  #seenAt = 0;
  #deadline: number | undefined;
  #nextAttempt = -Infinity;
  #lastAttempt = -Infinity;

  constructor(init: ElectorInit) {
    this.#init = init;
    // An exclusive Lease is created without a read: the response shows whether it exists.
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

  /** Records the start of a step. The next one is a period later, unless the Lease changes. */
  onAttempt(now: number): void {
    const [byte = 0] = this.#init.random(1);
    this.#lastAttempt = now;
    this.#nextAttempt = now + this.#init.times.periodMs * (1 + (byte / 256) * SPREAD);
  }

  /** Makes the next renewal of the own Lease due now, or a second after the last one. */
  hasten(now: number): void {
    if (!this.#isManaged()) return;
    const soon = Math.max(now, this.#lastAttempt + MIN_PERIOD_MS);
    this.#nextAttempt = Math.min(this.#nextAttempt, soon);
  }

  /**
   * Takes the result of a read. A read never shows less than what was known before it was sent,
   * with one exception. After etcd was restored from a snapshot, resourceVersions start again, and
   * the known state is worthless.
   *
   * @param known - the resourceVersion that was known when the read was sent
   */
  onRead(lease: Lease | undefined, known: string | undefined, now: number): void {
    const shown = lease?.metadata.resourceVersion;
    if (shown !== undefined && known !== undefined && isNewer(known, shown)) this.lease = undefined;
    this.observe(lease, now);
  }

  /**
   * Takes the state of the Lease on the API server, or undefined if there is none. Ignores a state
   * that is older than the known one, because a watch may lag behind a read.
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
    if (this.#isManaged()) return;
    this.#deadline = undefined;
    // A free Lease, or a predecessor's, is acquired without waiting for the period. If another
    // process uses the same name, the period applies: both would otherwise write in a tight loop.
    const isFree = holderOf(lease?.spec) === undefined;
    if (isFree || (this.#init.exclusive && isFirst)) this.#nextAttempt = now;
  }

  /** Takes the API server's answer to the write that was sent at `sentAt`. */
  onRenewed(lease: Lease, sentAt: number, now: number): void {
    this.observe(lease, now);
    // A write of another process may have been observed before the response to this one.
    if (this.#isManaged()) this.#deadline = sentAt + this.#init.times.deadlineMs;
  }

  /** Stops holding the Lease at once, and returns it if it can be released. */
  resign(): Lease | undefined {
    this.#deadline = undefined;
    return this.#isManaged() ? this.lease : undefined;
  }

  /** Reports whether this process holds the Lease, and no other can believe that it does. */
  holds(now: number): boolean {
    return this.heldUntil(now) !== undefined;
  }

  /**
   * Returns when the Lease ends without a renewal, or undefined if this process does not hold it.
   */
  heldUntil(now: number): number | undefined {
    return this.#deadline !== undefined && now < this.#deadline ? this.#deadline : undefined;
  }

  /** Returns the Lease as last seen, if another process holds it and it has not expired. */
  otherHolder(now: number): Lease | undefined {
    return this.#isManaged() || this.#remaining(now) === 0 ? undefined : this.lease;
  }

  #isManaged(): boolean {
    return holderOf(this.lease?.spec) === this.#init.identity;
  }

  /** Returns the milliseconds until this process may write the Lease. 0 for its own, too. */
  #remaining(now: number): number {
    if (this.lease === undefined || this.#isManaged() || this.#init.exclusive) return 0;
    return Math.max(0, this.#seenAt + leaseMilliseconds(this.lease) - now);
  }
}
