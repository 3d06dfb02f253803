// SPDX-License-Identifier: Apache-2.0
import { IndexedHeap } from '#acme/orders/turns/indexed-heap.ts';
import type { TableSeries, SeriesRecorder } from '#component/metric.ts';
import { ACME_SERIES } from '../metrics.ts';

/** Progress of a renewal. `overdue`: a person should check why nothing renews the certificate. */
export type RenewalState = 'waiting' | 'due' | 'overdue';

interface CountedRenewal {
  state: RenewalState;
  renewAt: number;
}

const RENEWAL_STATES: readonly RenewalState[] = ['waiting', 'due', 'overdue'];

/** Metrics of the certificates in use. */
export class RenewalCounts {
  readonly #series: TableSeries<typeof ACME_SERIES>;
  /** Counted renewals by uid of the Order. */
  readonly #counted = new Map<string, CountedRenewal>();
  readonly #byTime = new IndexedHeap<CountedRenewal>((a, b) => a.renewAt < b.renewAt);
  #counts = emptyCounts();

  constructor(metrics: SeriesRecorder) {
    this.#series = metrics.of(ACME_SERIES);
  }

  /** @param counted - undefined: the certificate is out of use */
  set(uid: string, counted: CountedRenewal | undefined): void {
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

  /** Clears the metrics after another replica started to lead. */
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
    const { renewals, nextRenewal } = this.#series;
    for (const [state, count] of this.#counts) renewals.set({ state }, count);
    nextRenewal.set({}, (this.#byTime.peek()?.renewAt ?? 0) / 1000);
  }
}

function emptyCounts(): Map<RenewalState, number> {
  return new Map(RENEWAL_STATES.map((state) => [state, 0]));
}
