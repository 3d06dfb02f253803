// SPDX-License-Identifier: Apache-2.0

/** Checks are printed by group, in this order. */
export const CHECK_GROUPS = ['kubernetes', 'installation', 'signers', 'requests'] as const;
export type CheckGroup = (typeof CHECK_GROUPS)[number];

/** What a page in docs/checks says of a check. */
export interface CheckDescription {
  readonly group: CheckGroup;
  /** A statement that holds when all is well. */
  readonly title: string;
  /** What does not work, or may not, while it fails. */
  readonly affects: string;
  /** What to do: a paragraph or a command each. Commands begin with `$ `. */
  readonly todo: readonly string[];
}
