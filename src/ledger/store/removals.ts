// SPDX-License-Identifier: Apache-2.0
/** Entries without a record, and records of removals: which of the one are not explained by the other. */
import type { ErasureRecord } from '../records/record.ts';
import { idOf } from '../records/ids.ts';

/** Ids from one to another, both inclusive. */
interface IdRange {
  readonly first: number;
  readonly last: number;
}

interface RemovedRange extends IdRange {
  readonly reason: ErasureRecord['reason'];
}

/** Entries without a record whose removal is recorded, by its reason. */
export type RemovedCounts = Readonly<Record<ErasureRecord['reason'], number>>;

/** A million removed records are some ranges: nothing here is as long as a ledger. */
export class Removals {
  readonly #removed: RemovedRange[] = [];
  readonly #missing: { readonly first: number; last: number }[] = [];

  /** A record of a removal that is in the log. */
  add({ removed, reason }: ErasureRecord): void {
    for (const { log, from, to } of removed) {
      const [first, last] = [idOf({ log, index: from }), idOf({ log, index: to })];
      this.#removed.push({ first, last, reason });
    }
  }

  /** An entry without a record; ids never fall from one call to the next. */
  missing(id: number): void {
    const open = this.#missing.at(-1);
    if (open?.last === id - 1) open.last = id;
    else this.#missing.push({ first: id, last: id });
  }

  /**
   * Entries without a record that no record of a removal names, in order; and how many the others are. What two removals
   * name counts for the one whose range begins first.
   */
  explained(): { readonly left: readonly IdRange[]; readonly counts: RemovedCounts } {
    const removed = this.#removed.toSorted((a, b) => a.first - b.first);
    const left: IdRange[] = [];
    const counts = { retention: 0, person: 0 };
    let at = 0;
    for (const { first, last } of this.#missing) {
      let from = first;
      // Earlier ones end before `first`, and so before all that is missing later.
      while ((removed[at]?.last ?? Infinity) < first) at += 1;
      for (let next = at; from <= last; next += 1) {
        const range = removed[next];
        if (range === undefined || range.first > last) break;
        if (range.first > from) left.push({ first: from, last: range.first - 1 });
        const begin = Math.max(from, range.first);
        counts[range.reason] += Math.max(0, Math.min(range.last, last) + 1 - begin);
        from = Math.max(from, range.last + 1);
      }
      if (from <= last) left.push({ first: from, last });
    }
    return { left, counts };
  }
}
