// SPDX-License-Identifier: Apache-2.0
/**
 * The part of Preact's types that the console uses. Its own types declare the DOM for the whole
 * program, where code for Node must not compile against it (tsconfig.json, paths).
 */

/** An element, made by {@link h}. */
export interface VNode {
  readonly type: unknown;
  readonly props: unknown;
  readonly key: unknown;
}

type Child = VNode | string | number | undefined | readonly Child[];

/** Makes an element. */
export function h(
  tag: string,
  attributes: Readonly<Record<string, unknown>>,
  ...content: readonly Child[]
): VNode;

/** Renders elements into a node of the DOM, and keeps what is there and equal. */
export function render(content: Child, parent: object): void;
