// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';

/**
 * Returns one string for all equal ones. JSON and protobuf decoders make a new string for each
 * namespace, node and second, a hundred thousand times over.
 */
export type Intern = (text: string) => string;

/**
 * Maximum number of strings. Beyond it the oldest are dropped: existing strings stay valid, and new
 * ones are made.
 */
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
