// SPDX-License-Identifier: Apache-2.0
/** Entries without a record, and records of removals: which of the one are not explained by the other. */
import type { ErasureRecord } from '../records/record.ts';
import { idOf } from './ids.ts';

/** Ids from one to another, both inclusive. */
interface IdRange {
  readonly first: number;
  readonly last: number;
}

/** A million removed records are some ranges: nothing here is as long as a ledger. */
export class Removals {
  readonly #removed: IdRange[] = [];
  readonly #missing: { readonly first: number; last: number }[] = [];

  /** A record of a removal that is in the log. */
  add({ removed }: ErasureRecord): void {
    for (const { log, from, to } of removed) {
      this.#removed.push({ first: idOf({ log, index: from }), last: idOf({ log, index: to }) });
    }
  }

  /** An entry without a record; ids never fall from one call to the next. */
  missing(id: number): void {
    const open = this.#missing.at(-1);
    if (open?.last === id - 1) open.last = id;
    else this.#missing.push({ first: id, last: id });
  }

  /** How many entries are without a record. */
  get count(): number {
    return this.#missing.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }

  /** Entries without a record that no record of a removal names, in order. */
  unexplained(): readonly IdRange[] {
    const removed = this.#removed.toSorted((a, b) => a.first - b.first);
    const left: IdRange[] = [];
    let at = 0;
    for (const { first, last } of this.#missing) {
      let from = first;
      // Earlier ones end before `first`, and so before all that is missing later.
      while ((removed[at]?.last ?? Infinity) < first) at += 1;
      for (let next = at; from <= last; next += 1) {
        const range = removed[next];
        if (range === undefined || range.first > last) break;
        if (range.first > from) left.push({ first: from, last: range.first - 1 });
        from = Math.max(from, range.last + 1);
      }
      if (from <= last) left.push({ first: from, last });
    }
    return left;
  }
}
