// SPDX-License-Identifier: Apache-2.0
/**
 * The id of a record: the number of its log and its index, as one number that orders all records.
 */

/** The log and index of a record. */
export interface LedgerPlace {
  readonly log: number;
  readonly index: number;
}

/**
 * Indexes per log. Indexes below 2^40 and logs below 2^13 make an id that JavaScript numbers hold
 * exactly.
 */
const INDEXES = 2 ** 40;

/** Returns the id of the record at a place. */
export function idOf({ log, index }: LedgerPlace): number {
  return log * INDEXES + index;
}

/** Returns the place of the record with this id. */
export function placeOf(id: number): LedgerPlace {
  return { log: Math.floor(id / INDEXES), index: id % INDEXES };
}

/**
 * Returns the id of the record with the name `<number of the log>-<index>`, or undefined for
 * another name.
 */
export function idOfName(name: string): number | undefined {
  const [, log = '', index = ''] = /^([1-9]\d{0,3})-(0|[1-9]\d{0,11})$/.exec(name) ?? [];
  return log === '' ? undefined : idOf({ log: Number(log), index: Number(index) });
}
