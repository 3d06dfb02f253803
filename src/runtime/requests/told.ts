// SPDX-License-Identifier: Apache-2.0

/** What was said of each pending request last: the same is not said again at each look. */
export interface Told {
  /** Whether that is another word than the last one; remembers it. */
  readonly isNews: (key: string, word: string) => boolean;
  readonly forget: (key: string) => void;
}

export function createTold(): Told {
  const last = new Map<string, string>();
  /** One string for all that were told the same. Words are of a small fixed set. */
  const words = new Map<string, string>();
  return {
    isNews: (key, word) => {
      if (last.get(key) === word) return false;
      const known = words.get(word) ?? word;
      words.set(known, known);
      last.set(key, known);
      return true;
    },
    forget: (key) => {
      last.delete(key);
    },
  };
}
