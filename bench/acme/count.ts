// SPDX-License-Identifier: Apache-2.0
import { closeSync, openSync, readSync } from 'node:fs';
import { readApiWrites } from '../measure/api-calls.ts';
import { endOfLog, type Stage } from './stage.ts';

/** How many calls of which kind. */
export type Calls = ReadonlyMap<string, number>;

/** Up to a moment. */
export interface Counted {
  /** Bytes of the ACME server's log. */
  readonly log: number;
  readonly writes: Calls;
}

/**
 * What is written for a request, and Events. Leases are left out, and whatever others write
 * meanwhile.
 */
const WRITTEN = /^\w+ (?:\w+\.(?:acme\.)?cert-manager\.io|\w+\.acme\.countersign\.dev|events\.)/;

export async function count(stage: Stage): Promise<Counted> {
  return { log: endOfLog(stage), writes: await readApiWrites(stage.client) };
}

/** Calls of the ACME server between two moments, by endpoint. Each is a line of its log. */
export function acmeCalls({ log }: Stage, from: Counted, to: Counted): Calls {
  const text = Buffer.alloc(to.log - from.log);
  const file = openSync(log, 'r');
  readSync(file, text, 0, text.length, from.log);
  closeSync(file);
  const calls = new Map<string, number>();
  for (const [, call = ''] of text.toString().matchAll(/(\w+ \/\S*) -> calling handler/g))
    calls.set(call, (calls.get(call) ?? 0) + 1);
  return calls;
}

/** Writes between two moments. */
export function apiWrites(from: Counted, to: Counted): Calls {
  const written = [...to.writes]
    .filter(([what]) => WRITTEN.test(what))
    .map(([what, many]) => [what, many - (from.writes.get(what) ?? 0)] as const);
  return new Map(written.filter(([, many]) => many > 0));
}
