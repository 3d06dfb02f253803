// SPDX-License-Identifier: Apache-2.0
import { limitFloor } from '../back-off.ts';
import { registeredDomain } from '../registered-domain.ts';
import { change, isFull, readyAt, type Bucket, type Rate } from './bucket.ts';
import { TurnQueue } from './turn-queue.ts';
import { IndexedHeap } from './indexed-heap.ts';

/** Limits of a CA. An absent one does not apply. */
export interface Rates {
  /** New orders of one account. */
  readonly orders?: Rate;
  /** New certificates of one registered domain, of all accounts. */
  readonly domain?: Rate;
  /** New certificates of equal sets of names, of all accounts. */
  readonly equalNames?: Rate;
  /** Failed validations of one name by one account. */
  readonly failures?: Rate;
}

const HOUR_MS = 3_600_000;

/**
 * Limits of Let's Encrypt (https://letsencrypt.org/docs/rate-limits/). Other CAs report their
 * limits only in answers.
 *
 * - 300 new orders of an account in three hours
 * - 50 certificates of a registered domain in seven days
 * - five certificates of equal names in seven days
 * - five failed validations of a name by an account in an hour
 */
export const LETS_ENCRYPT: Rates = {
  orders: { burst: 300, everyMs: (3 * HOUR_MS) / 300 },
  domain: { burst: 50, everyMs: (7 * 24 * HOUR_MS) / 50 },
  equalNames: { burst: 5, everyMs: (7 * 24 * HOUR_MS) / 5 },
  failures: { burst: 5, everyMs: HOUR_MS / 5 },
};

/** Share of a limit that an Order needs. */
export interface WantedShare {
  readonly id: string;
  /**
   * A new order counts for its account. A certificate counts for its registered domains and its
   * set of names from finalize on.
   */
  readonly of: 'order' | 'certificate';
  readonly namespace: string;
  readonly account: string;
  readonly names: readonly string[];
  /** Renewals of a namespace come first, because renewed certificates are in use. */
  readonly isRenewal: boolean;
  /**
   * A renewal that the CA exempts from its limits. Let's Encrypt exempts orders with RFC 9773's
   * `replaces`.
   */
  readonly isExempt: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

type Share = Bucket<WantedShare>;

/** Limit on idle counters. Above it full ones are forgotten: other people choose the names. */
const MAX_IDLE_BUCKETS = 1_000;

/**
 * Turns of others that come before the next one of a namespace that the CA limited. Its attempts
 * make the account wait, and orders that pass do not. The number is finite, so that a flood of
 * orders that pass cannot stop the namespace.
 */
const TURNS_AFTER_LIMIT = 1_000;

/**
 * Decides which order to create or finalize next, within the CA's limits. Namespaces take turns. In
 * each, renewals come before new names, then the oldest. Each limit of the CA has its own counter.
 */
export class OrderBudgets {
  readonly #ratesOf: (account: string) => Rates;
  readonly #isBefore: (a: WantedShare, b: WantedShare) => boolean;
  readonly #buckets = new Map<string, Share>();
  readonly #waitingAt = new Map<string, { readonly bucket: Share; readonly want: WantedShare }>();
  /** Buckets with a waiting share, ordered by the time of their next token. */
  readonly #due: IndexedHeap<Share>;
  /** Orders that tried since the CA limited one, without an answer other than a limit. */
  readonly #attempts = new Map<string, number>();
  #sweepAbove = MAX_IDLE_BUCKETS;

  /**
   * @param ratesOf - returns the limits of an account's CA
   * @param onStep - called for each comparison, so that tests count the work of a decision
   */
  constructor(ratesOf: (account: string) => Rates, onStep: () => void = () => undefined) {
    this.#ratesOf = ratesOf;
    this.#isBefore = (a, b) => {
      onStep();
      return isBefore(a, b);
    };
    this.#due = new IndexedHeap((a, b) => {
      onStep();
      return readyAt(a) < readyAt(b);
    });
  }

  add(want: WantedShare): void {
    const [first] = this.#bucketsOf(want);
    if (first !== undefined && !this.#waitingAt.has(want.id)) this.#park(want, first);
  }

  remove(id: string): void {
    const found = this.#waitingAt.get(id);
    if (found === undefined) return;
    this.#waitingAt.delete(id);
    found.bucket.waiting.delete(found.want);
    this.#place(found.bucket);
  }

  /**
   * Returns the next order that may continue, and takes its share. Returns undefined if none may.
   */
  next(now: number): WantedShare | undefined {
    if (this.#buckets.size >= this.#sweepAbove) this.#sweep(now);
    // Two shares that each precede the other, in two buckets, would wait for each other: after two
    // rounds the turns of others do not count any more.
    let turnsLeft = 2 * this.#waitingAt.size;
    for (let want = this.#takeDue(now); want !== undefined; want = this.#takeDue(now)) {
      turnsLeft -= 1;
      const blocking = this.#blocking(want, now, turnsLeft > 0);
      if (blocking === undefined) {
        this.count(want, now);
        this.#countAttempt(want, now);
        return want;
      }
      this.#park(want, blocking);
    }
    return undefined;
  }

  /** Takes the first share out of the queue of a bucket that has a token for it. */
  #takeDue(now: number): WantedShare | undefined {
    const bucket = this.#due.peek();
    const want = bucket?.waiting.peek();
    if (bucket === undefined || want === undefined || readyAt(bucket) > now) return undefined;
    this.remove(want.id);
    return want;
  }

  /**
   * Returns a bucket that has no token for the share, or, while turns count, one in which another
   * share comes first.
   */
  #blocking(want: WantedShare, now: number, turnsCount: boolean): Share | undefined {
    const contested = turnsCount ? [this.#limited(want.account), ...this.#counted(want)] : [];
    return this.#bucketsOf(want).find(
      (each) => readyAt(each) > now || (contested.includes(each) && each.waiting.hasBefore(want)),
    );
  }

  /** Returns the time for the next call of `next`, or undefined if nothing waits. */
  wakeAt(): number | undefined {
    const first = this.#due.peek();
    return first === undefined ? undefined : readyAt(first);
  }

  /** Blocks new orders of the account until the time of the server's Retry-After. */
  pause(account: string, until: number): void {
    const found = this.#bucket(`pause ${account}`, undefined);
    found.pausedUntil = Math.max(found.pausedUntil, until);
    this.#place(found);
  }

  /**
   * Notes that the CA limited an order or a certificate. Its names alone may be the cause, so other
   * orders of the account try, one at a time. The wait between them doubles up to ten minutes.
   * Namespaces that were not limited come first.
   */
  limit(
    { account, namespace }: Pick<WantedShare, 'account' | 'namespace'>,
    until: number,
    now: number,
  ): void {
    const attempts = this.#attempts.get(account) ?? 1;
    this.#attempts.set(account, attempts);
    const found = this.#limited(account);
    found.waiting.serve(namespace, TURNS_AFTER_LIMIT);
    const floor = Math.min(until, now + limitFloor(attempts));
    found.pausedUntil = Math.max(found.pausedUntil, floor);
    this.#place(found);
  }

  /** Notes that the CA did not limit an order or a certificate: the next one tries at once. */
  pass(account: string): void {
    if (!this.#attempts.has(account)) return;
    const found = this.#limited(account);
    found.pausedUntil = -Infinity;
    if (found.waiting.size === 0) this.#attempts.delete(account);
    else this.#attempts.set(account, 1);
    this.#place(found);
  }

  /** Lets others wait for the answer to this share while the CA may limit the whole account. */
  #countAttempt({ account, namespace }: WantedShare, now: number): void {
    const before = this.#attempts.get(account);
    if (before === undefined) return;
    const attempts = before + 1;
    this.#attempts.set(account, attempts);
    const found = this.#limited(account);
    found.pausedUntil = now + limitFloor(attempts);
    found.waiting.serve(namespace);
    this.#place(found);
  }

  /** Counts a share that is used, also by an earlier leader: the CA counts it. */
  count(want: WantedShare, now: number): void {
    for (const each of this.#counted(want)) {
      this.#change(each, -1, now);
      each.waiting.serve(want.namespace);
    }
  }

  /** Gives back the share of a call that created nothing at the CA. */
  giveBack(want: WantedShare, now: number): void {
    for (const each of this.#counted(want)) this.#change(each, 1, now);
  }

  /**
   * Takes the share of a validation that starts, because it can fail. @returns the time until which
   * it waits, or undefined if it may start
   */
  takeValidation(account: string, name: string, now: number): number | undefined {
    const bucket = this.#failures(account, name);
    const at = readyAt(bucket);
    if (at > now) return at;
    this.#change(bucket, -1, now);
    return undefined;
  }

  /**
   * Corrects the count of failed validations. 1 gives back the share of a validation that did not
   * fail. -1 takes a share for a failure that took none.
   */
  countValidation(account: string, name: string, by: 1 | -1, now: number): void {
    this.#change(this.#failures(account, name), by, now);
  }

  /**
   * Returns all buckets that limit a share. The first ones have the server's pause of the account
   * and the turns after a limit.
   */
  #bucketsOf(want: WantedShare): readonly Share[] {
    const { account, names, isExempt, of } = want;
    const paused = this.#bucket(`pause ${account}`, undefined);
    const always = [paused, this.#limited(account)];
    if (isExempt) return always;
    if (of === 'certificate') return [...always, ...this.#counted(want)];
    // The CA refuses orders for names with too many certificates or failed validations.
    const ofNames = names.map((name) => this.#failures(account, name));
    return [...always, ...this.#counted(want), ...ofNames, ...this.#equalNames(want)];
  }

  /** Returns the buckets that the share takes a token of. */
  #counted(want: WantedShare): readonly Share[] {
    const { account, names, isExempt, of } = want;
    if (isExempt) return [];
    const { orders, domain } = this.#ratesOf(account);
    if (of === 'order') return [this.#bucket(`account ${account}`, orders)];
    const domains = domain === undefined ? [] : new Set(names.map(registeredDomain));
    const ofDomains = [...domains].map((name) => this.#bucket(`domain ${name}`, domain));
    return [...ofDomains, ...this.#equalNames(want)];
  }

  #equalNames({ account, names }: WantedShare): readonly Share[] {
    const { equalNames } = this.#ratesOf(account);
    if (equalNames === undefined) return [];
    const set = [...new Set(names.map((name) => name.toLowerCase()))].toSorted().join(' ');
    return [this.#bucket(`names ${set}`, equalNames)];
  }

  #limited(account: string): Share {
    return this.#bucket(`limited ${account}`, undefined);
  }

  #failures(account: string, name: string): Share {
    const { failures } = this.#ratesOf(account);
    const proved = name.replace(/^\*\./, '').toLowerCase();
    return this.#bucket(`failures ${account} ${failures === undefined ? '' : proved}`, failures);
  }

  #bucket(name: string, rate: Rate | undefined): Share {
    const found = this.#buckets.get(name);
    if (found !== undefined) return found;
    const made: Share = {
      rate,
      tokens: rate?.burst ?? 0,
      countedAt: -Infinity,
      pausedUntil: -Infinity,
      waiting: new TurnQueue(this.#isBefore),
    };
    this.#buckets.set(name, made);
    return made;
  }

  #sweep(now: number): void {
    for (const [name, bucket] of this.#buckets) if (isFull(bucket, now)) this.#buckets.delete(name);
    this.#sweepAbove = Math.max(MAX_IDLE_BUCKETS, 2 * this.#buckets.size);
  }

  #park(want: WantedShare, bucket: Share): void {
    this.#waitingAt.set(want.id, { bucket, want });
    bucket.waiting.add(want);
    this.#place(bucket);
  }

  #change(bucket: Share, by: number, now: number): void {
    this.#due.delete(bucket);
    change(bucket, by, now);
    this.#place(bucket);
  }

  #place(bucket: Share): void {
    if (bucket.waiting.size > 0) this.#due.set(bucket);
    else this.#due.delete(bucket);
  }
}

function isBefore(a: WantedShare, b: WantedShare): boolean {
  if (a.isRenewal !== b.isRenewal) return a.isRenewal;
  return a.createdAt === b.createdAt ? a.id < b.id : a.createdAt < b.createdAt;
}
