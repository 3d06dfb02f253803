// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../../ports.ts';
import { holderOf, type Lease, leaseMilliseconds, type LeaseTimes } from './lease.ts';
import { isNewer } from '../resource/object.ts';

/** What the holder, or candidate, of a Lease is to do next. */
export type Step =
  /** Nothing for so many milliseconds, unless the Lease changes. */
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'read' }
  | { readonly kind: 'create' }
  /** A write fenced by this very state's UID and resourceVersion. */
  | { readonly kind: 'update'; readonly from: Lease };

export interface ElectorInit {
  /** Of one process only. */
  readonly identity: string;
  readonly times: LeaseTimes;
  /** Nobody else is ever to hold this Lease: what is found there is a predecessor's, and taken at once. */
  readonly sole: boolean;
  readonly random: Random;
}

/**
 * The rules of one candidate for one Lease, without network and clock. All times are milliseconds of
 * one monotonic clock of this process; times of others are never looked at.
 *
 * - A Lease of somebody else counts for its duration from the moment when we saw it change.
 * - Our own counts until a deadline shorter than that, from the moment when the renewal that the
 *   server took was *sent*: whoever sees it later waits longer. A process that was stopped finds
 *   itself past the deadline when it goes on.
 * - Every write names the state that it was decided on, so that of several candidates one succeeds,
 *   and one that was looking away takes nothing from a holder that renewed meanwhile.
 */
export interface Elector {
  next(now: number): Step;
  /** An attempt of `next` was begun; the one after it is a period later, unless the Lease changes. */
  began(now: number): void;
  /** The API server's state of the Lease; undefined where there is none. */
  saw(lease: Lease | undefined, now: number): void;
  /** Our write, sent at `sentAt`, was answered with `lease`. */
  wrote(lease: Lease, sentAt: number, now: number): void;
  /** Ends our term at once; the Lease that may now be given back, if we had one. */
  resign(): Lease | undefined;
  /** Whether we hold it, as far as nobody else can think otherwise. */
  holds(now: number): boolean;
  /** When that ends unless it is renewed; undefined when we do not hold it. */
  heldUntil(now: number): number | undefined;
  /** The Lease as last seen, if it is another's and still counts. */
  heldByAnother(now: number): Lease | undefined;
  /** The Lease as last seen. */
  readonly lease: Lease | undefined;
}

/** Periods are spread by a fifth, so that candidates do not stay in step. */
const SPREAD = 0.2;

export function createElector(init: ElectorInit): Elector {
  return new Candidacy(init);
}

class Candidacy implements Elector {
  lease: Lease | undefined;
  readonly #init: ElectorInit;
  /** Whether `lease` is what some answer said; before, its absence means nothing. */
  #known: boolean;
  /** When `lease` was first seen in its present state. */
  #seenAt = 0;
  #deadline: number | undefined;
  #nextAttempt = -Infinity;

  constructor(init: ElectorInit) {
    this.#init = init;
    // Its creation says whether there is one.
    this.#known = init.sole;
  }

  next(now: number): Step {
    const wait = this.#nextAttempt - now;
    if (wait > 0) return { kind: 'wait', ms: wait };
    if (!this.#known) return { kind: 'read' };
    if (this.lease === undefined) return { kind: 'create' };
    const left = this.#left(now);
    return left > 0 ? { kind: 'wait', ms: left } : { kind: 'update', from: this.lease };
  }

  began(now: number): void {
    const [byte = 0] = this.#init.random(1);
    this.#nextAttempt = now + this.#init.times.periodMs * (1 + (byte / 256) * SPREAD);
  }

  saw(lease: Lease | undefined, now: number): void {
    const before = this.lease?.metadata.resourceVersion;
    const isFirst = before === undefined;
    this.#known = true;
    if (lease !== undefined && before !== undefined) {
      if (!isNewer(lease.metadata.resourceVersion, before)) return;
    }
    this.lease = lease;
    this.#seenAt = now;
    if (this.#isOurs()) return;
    this.#deadline = undefined;
    // Given back, gone, or a predecessor's: whoever is awake need not wait out its period. It must
    // where a twin of the same name writes as well, or both would write as fast as they can.
    const isFree = holderOf(lease?.spec) === undefined;
    if (isFree || (this.#init.sole && isFirst)) this.#nextAttempt = now;
  }

  wrote(lease: Lease, sentAt: number, now: number): void {
    this.saw(lease, now);
    // Another's write may have been seen before the answer to ours.
    if (this.#isOurs()) this.#deadline = sentAt + this.#init.times.deadlineMs;
  }

  resign(): Lease | undefined {
    this.#deadline = undefined;
    return this.#isOurs() ? this.lease : undefined;
  }

  holds(now: number): boolean {
    return this.heldUntil(now) !== undefined;
  }

  heldUntil(now: number): number | undefined {
    return this.#deadline !== undefined && now < this.#deadline ? this.#deadline : undefined;
  }

  heldByAnother(now: number): Lease | undefined {
    return this.#isOurs() || this.#left(now) === 0 ? undefined : this.lease;
  }

  #isOurs(): boolean {
    return holderOf(this.lease?.spec) === this.#init.identity;
  }

  /** Milliseconds for which the Lease keeps us from writing it; 0 also for our own. */
  #left(now: number): number {
    if (this.lease === undefined || this.#isOurs() || this.#init.sole) return 0;
    return Math.max(0, this.#seenAt + leaseMilliseconds(this.lease) - now);
  }
}
