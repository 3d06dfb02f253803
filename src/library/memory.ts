// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../bounded-map.ts';
import type { Thrown } from './classify.ts';
import type { ConditionOf } from './errors.ts';

/** What a request's object cannot hold, by its UID; as long as this process has heard of it. */
export interface Memory {
  /** It can never be signed; no further call. */
  readonly ended: (uid: string) => Thrown | undefined;
  /** Conditions that its kind does not take, the newest of each type. */
  readonly conditions: (uid: string) => readonly ConditionOf[];
  readonly note: (uid: string, thrown: Thrown) => void;
  readonly forget: (uid: string) => void;
}

/** Nobody looks through more; who makes their types of what a CA says makes ever new ones. */
const MAX_CONDITIONS = 8;
/** Some two KiB each, most of them 500 bytes. Beyond, the oldest is forgotten: it would be signed, or fail, once more. */
export const MAX_REMEMBERED = 20_000;

interface Remembered {
  readonly ended: Thrown | undefined;
  readonly conditions: ReadonlyMap<string, ConditionOf>;
}

const NOTHING: Remembered = { ended: undefined, conditions: new Map() };

export function createMemory(): Memory {
  const known = new BoundedMap<string, Remembered>(MAX_REMEMBERED);

  function note(uid: string, thrown: Thrown): void {
    const { how, condition } = thrown;
    if (how !== 'permanent' && condition === undefined) return;
    const { ended, conditions } = known.get(uid) ?? NOTHING;
    known.set(uid, {
      ended: how === 'permanent' ? thrown : ended,
      conditions:
        condition === undefined ? conditions : newest([...conditions, [condition.type, condition]]),
    });
  }

  function newest(
    all: readonly (readonly [type: string, condition: ConditionOf])[],
  ): ReadonlyMap<string, ConditionOf> {
    return new Map([...new Map(all)].slice(-MAX_CONDITIONS));
  }

  return {
    ended: (uid) => known.get(uid)?.ended,
    conditions: (uid) => [...(known.get(uid)?.conditions.values() ?? [])],
    note,
    forget: (uid) => {
      known.delete(uid);
    },
  };
}
