// SPDX-License-Identifier: Apache-2.0
import { IndexedHeap } from '../../../acme-orders/indexed-heap.ts';
import type { Component } from '../../../runtime/component/component.ts';

/** How far a renewal is. `overdue`: somebody should look why nothing renews it. */
export type RenewalState = 'waiting' | 'due' | 'overdue';

interface Counted {
  state: RenewalState;
  renewAt: number;
}

const RENEWAL_STATES: readonly RenewalState[] = ['waiting', 'due', 'overdue'];

/** What metrics say of the certificates that are in use. */
export class RenewalCounts {
  readonly #metrics: Pick<Component['metrics'], 'acmeRenewals' | 'acmeNextRenewal'>;
  /** By uid of the Order. */
  readonly #counted = new Map<string, Counted>();
  readonly #byTime = new IndexedHeap<Counted>((a, b) => a.renewAt < b.renewAt);
  #counts = emptyCounts();

  constructor(metrics: Pick<Component['metrics'], 'acmeRenewals' | 'acmeNextRenewal'>) {
    this.#metrics = metrics;
  }

  /** @param counted - undefined: the certificate is not in use any more */
  set(uid: string, counted: Counted | undefined): void {
    const before = this.#counted.get(uid);
    if (before !== undefined) this.#add(before.state, -1);
    if (counted === undefined) {
      this.#counted.delete(uid);
      if (before !== undefined) this.#byTime.delete(before);
    } else {
      const kept = Object.assign(before ?? counted, counted);
      this.#counted.set(uid, kept);
      this.#byTime.set(kept);
      this.#add(kept.state, 1);
    }
    if (before !== undefined || counted !== undefined) this.#report();
  }

  /** Another replica leads. */
  clear(): void {
    for (const each of this.#counted.values()) this.#byTime.delete(each);
    this.#counted.clear();
    this.#counts = emptyCounts();
    this.#report();
  }

  #add(state: RenewalState, difference: number): void {
    this.#counts.set(state, (this.#counts.get(state) ?? 0) + difference);
  }

  #report(): void {
    for (const [state, count] of this.#counts) this.#metrics.acmeRenewals(state, count);
    this.#metrics.acmeNextRenewal(this.#byTime.peek()?.renewAt);
  }
}

function emptyCounts(): Map<RenewalState, number> {
  return new Map(RENEWAL_STATES.map((state) => [state, 0]));
}
