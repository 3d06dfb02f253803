// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';

/**
 * One string for all that are equal: JSON and protobuf make a new one of each namespace, node and
 * second, a hundred thousand times over.
 */
export type SharedTexts = (text: string) => string;

/** Beyond, the oldest are forgotten: the strings stay what they are, and new ones are made. */
export const MAX_TEXTS = 16_384;

export function createSharedTexts(): SharedTexts {
  const known = new BoundedMap<string, string>(MAX_TEXTS);
  return (text) => {
    const one = known.get(text);
    if (one !== undefined) return one;
    known.set(text, text);
    return text;
  };
}
