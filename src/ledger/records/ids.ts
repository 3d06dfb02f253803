// SPDX-License-Identifier: Apache-2.0
/** Where a record is: the number of its log and its index in it, as one number that orders all records. */

/** Where a record is. */
export interface LedgerPlace {
  readonly log: number;
  readonly index: number;
}

/** Indexes below 2^40 and logs below 2^13 make an id that every number of JavaScript can be. */
const INDEXES = 2 ** 40;

/** The id of the record at a place. */
export function idOf({ log, index }: LedgerPlace): number {
  return log * INDEXES + index;
}

/** The place of the record with this id. */
export function placeOf(id: number): LedgerPlace {
  return { log: Math.floor(id / INDEXES), index: id % INDEXES };
}

/** The id of the record that has a name, `<number of the log>-<index>`; nothing if none can. */
export function idOfName(name: string): number | undefined {
  const [, log = '', index = ''] = /^([1-9]\d{0,3})-(0|[1-9]\d{0,11})$/.exec(name) ?? [];
  return log === '' ? undefined : idOf({ log: Number(log), index: Number(index) });
}
