// SPDX-License-Identifier: Apache-2.0
/** Matches entries without a record with the records of removals. */
import type { ErasureRecord } from '../records/record.ts';
import { idOf } from '../records/ids.ts';

/** A range of ids, both inclusive. */
interface IdRange {
  readonly first: number;
  readonly last: number;
}

interface RemovedRange extends IdRange {
  readonly reason: ErasureRecord['reason'];
}

/** Number of entries without a record whose removal is recorded, by reason. */
export type RemovedCounts = Readonly<Record<ErasureRecord['reason'], number>>;

/** Collects ranges, so that a million removed records need little memory. */
export class Removals {
  readonly #removed: RemovedRange[] = [];
  readonly #missing: { readonly first: number; last: number }[] = [];

  /** Adds a record of a removal from the log. */
  add({ removed, reason }: ErasureRecord): void {
    for (const { log, from, to } of removed) {
      const [first, last] = [idOf({ log, index: from }), idOf({ log, index: to })];
      this.#removed.push({ first, last, reason });
    }
  }

  /** Adds an entry without a record. Ids never decrease from one call to the next. */
  missing(id: number): void {
    const open = this.#missing.at(-1);
    if (open?.last === id - 1) open.last = id;
    else this.#missing.push({ first: id, last: id });
  }

  /**
   * Returns the missing entries that no record of a removal names, in order, and the number of the
   * others. An entry that two removals name counts for the one whose range begins first.
   */
  explained(): { readonly left: readonly IdRange[]; readonly counts: RemovedCounts } {
    const removed = this.#removed.toSorted((a, b) => a.first - b.first);
    const left: IdRange[] = [];
    const counts = { retention: 0, person: 0 };
    let at = 0;
    for (const { first, last } of this.#missing) {
      let from = first;
      // Earlier ranges end before `first`, and so before all later missing entries.
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
