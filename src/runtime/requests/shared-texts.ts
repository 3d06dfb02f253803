// SPDX-License-Identifier: Apache-2.0

/**
 * One string for all that are equal: JSON and protobuf make a new one of each namespace, node and
 * second, a hundred thousand times over.
 */
export type SharedTexts = (text: string) => string;

/** Beyond, it begins anew: those of before stay what they are. */
export const MAX_TEXTS = 16_384;

export function createSharedTexts(): SharedTexts {
  const known = new Map<string, string>();
  return (text) => {
    const one = known.get(text);
    if (one !== undefined) return one;
    if (known.size >= MAX_TEXTS) known.clear();
    known.set(text, text);
    return text;
  };
}
