// SPDX-License-Identifier: Apache-2.0

/** One file that a user could send. */
export interface Case {
  readonly name: string;
  /** How it is judged: by itself; as a leaf below {@link ISSUER}; as the text of `spec.request`. */
  readonly kind: 'request' | 'certificate' | 'pem';
  /** What is wrong with it; empty where nothing is, and then everybody must take it. */
  readonly wrong: string;
  /** Where that is written. */
  readonly source: string;
  readonly bytes: () => Uint8Array;
}

/** Name → what is wrong, where that is written, and what makes it so. */
export type Table<T> = Readonly<Record<string, readonly [wrong: string, source: string, made: T]>>;

/** The cases of a table. */
export function casesOf<T>(
  kind: Case['kind'],
  theme: string,
  table: Table<T>,
  bytes: (made: T) => Uint8Array,
): readonly Case[] {
  return Object.entries(table).map(([name, [wrong, source, made]]) => ({
    name: `${kind}/${theme}/${name}`,
    kind,
    wrong,
    source,
    bytes: () => bytes(made),
  }));
}
