// SPDX-License-Identifier: Apache-2.0
import { IndexedHeap } from './indexed-heap.ts';
import { registeredDomain } from './registered-domain.ts';

/** How many of something may be done: `burst` at once, then one each `everyMs`. */
export interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/** What a CA allows; what is left out is not limited. */
export interface Rates {
  /** New orders of one account. */
  readonly orders?: Rate;
  /** New certificates of one registered domain, whoever asks. */
  readonly domain?: Rate;
}

const HOUR_MS = 3_600_000;

/**
 * Let's Encrypt: 300 new orders of an account in three hours, 50 certificates of a registered domain in seven days
 * (https://letsencrypt.org/docs/rate-limits/). Other CAs say what they allow by their answers only.
 */
export const LETS_ENCRYPT: Rates = {
  orders: { burst: 300, everyMs: (3 * HOUR_MS) / 300 },
  domain: { burst: 50, everyMs: (7 * 24 * HOUR_MS) / 50 },
};

/** An order that is to be made. */
export interface WantedOrder {
  /** uid of the Order. */
  readonly id: string;
  readonly account: string;
  readonly names: readonly string[];
  /** Renewals come first: what is renewed is in use. */
  readonly isRenewal: boolean;
  /** A renewal that the CA exempts from its limits, as Let's Encrypt does where RFC 9773's `replaces` is sent. */
  readonly isExempt: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

interface Bucket {
  readonly rate: Rate | undefined;
  tokens: number;
  /** Until when `tokens` is counted. */
  countedAt: number;
  pausedUntil: number;
  readonly waiting: IndexedHeap<WantedOrder>;
}

/** Which order may be made next: renewals before new names, then the oldest, as far as the CA allows. */
export class OrderBudgets {
  readonly #ratesOf: (account: string) => Rates;
  readonly #isBefore: (a: WantedOrder, b: WantedOrder) => boolean;
  readonly #buckets = new Map<string, Bucket>();
  readonly #waitingAt = new Map<string, { readonly bucket: Bucket; readonly order: WantedOrder }>();
  /** Buckets that something waits for, by the time when they have a token. */
  readonly #due: IndexedHeap<Bucket>;

  /**
   * @param ratesOf - of the CA of an account
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

  add(order: WantedOrder): void {
    const [first] = this.#bucketsOf(order);
    if (first !== undefined && !this.#waitingAt.has(order.id)) this.#park(order, first);
  }

  remove(id: string): void {
    const found = this.#waitingAt.get(id);
    if (found === undefined) return;
    this.#waitingAt.delete(id);
    found.bucket.waiting.delete(found.order);
    this.#place(found.bucket);
  }

  /** The order that may be made now; its share is taken. Undefined where none may. */
  next(now: number): WantedOrder | undefined {
    for (;;) {
      const first = this.#due.peek();
      const order = first?.waiting.peek();
      if (first === undefined || order === undefined || readyAt(first) > now) return undefined;
      this.remove(order.id);
      const all = this.#bucketsOf(order);
      const blocking = all.find((each) => readyAt(each) > now || this.#hasBetter(each, order));
      if (blocking === undefined) {
        for (const each of all) this.#take(each, now);
        return order;
      }
      this.#park(order, blocking);
    }
  }

  /** When to ask again; undefined where nothing waits. */
  wakeAt(): number | undefined {
    const first = this.#due.peek();
    return first === undefined ? undefined : readyAt(first);
  }

  /** No order of the account before that: the server's Retry-After. */
  pause(account: string, until: number): void {
    const found = this.#bucket(`pause ${account}`, undefined);
    found.pausedUntil = Math.max(found.pausedUntil, until);
    this.#place(found);
  }

  /** The first says until when the server wants no order of the account at all. */
  #bucketsOf({ account, names, isExempt }: WantedOrder): readonly Bucket[] {
    const { orders, domain } = this.#ratesOf(account);
    const paused = this.#bucket(`pause ${account}`, undefined);
    if (isExempt) return [paused];
    const domains = domain === undefined ? [] : new Set(names.map(registeredDomain));
    return [
      paused,
      this.#bucket(`account ${account}`, orders),
      ...[...domains].map((name) => this.#bucket(`domain ${name}`, domain)),
    ];
  }

  #bucket(name: string, rate: Rate | undefined): Bucket {
    const found = this.#buckets.get(name);
    if (found !== undefined) return found;
    const waiting = new IndexedHeap(this.#isBefore);
    const tokens = rate?.burst ?? 0;
    const made = { rate, tokens, countedAt: -Infinity, pausedUntil: -Infinity, waiting };
    this.#buckets.set(name, made);
    return made;
  }

  /** Whether somebody who waits for the same is to be served first. */
  #hasBetter({ waiting }: Bucket, order: WantedOrder): boolean {
    const first = waiting.peek();
    return first !== undefined && this.#isBefore(first, order);
  }

  #park(order: WantedOrder, bucket: Bucket): void {
    this.#waitingAt.set(order.id, { bucket, order });
    bucket.waiting.set(order);
    this.#place(bucket);
  }

  #take(bucket: Bucket, now: number): void {
    if (bucket.rate === undefined) return;
    bucket.tokens = tokensAt(bucket, now) - 1;
    bucket.countedAt = now;
    this.#place(bucket);
  }

  #place(bucket: Bucket): void {
    if (bucket.waiting.size > 0) this.#due.set(bucket);
    else this.#due.delete(bucket);
  }
}

function tokensAt({ rate, tokens, countedAt }: Bucket, now: number): number {
  if (rate === undefined) return Infinity;
  if (countedAt === -Infinity) return rate.burst;
  return Math.min(rate.burst, tokens + (now - countedAt) / rate.everyMs);
}

/** When it has a whole token, and is not paused. */
function readyAt({ rate, tokens, countedAt, pausedUntil }: Bucket): number {
  if (rate === undefined || tokens >= 1) return pausedUntil;
  return Math.max(pausedUntil, Math.ceil(countedAt + (1 - tokens) * rate.everyMs));
}

function isBefore(a: WantedOrder, b: WantedOrder): boolean {
  if (a.isRenewal !== b.isRenewal) return a.isRenewal;
  return a.createdAt === b.createdAt ? a.id < b.id : a.createdAt < b.createdAt;
}
