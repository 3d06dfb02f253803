// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';

/**
 * One string for all that are equal: JSON and protobuf make a new one of each namespace, node and
 * second, a hundred thousand times over.
 */
export type Intern = (text: string) => string;

/** Beyond, the oldest are forgotten: the strings stay what they are, and new ones are made. */
const MAX_INTERNED = 16_384;

export function createInterner(): Intern {
  const known = new BoundedMap<string, string>(MAX_INTERNED);
  return (text) => {
    const one = known.get(text);
    if (one !== undefined) return one;
    known.set(text, text);
    return text;
  };
}
