// SPDX-License-Identifier: Apache-2.0
import { lengthOctets } from '../support/pki/der.ts';
import type { Dice } from './dice.ts';
import { mutateBytes } from './mutate-bytes.ts';
import { copyTree, encodeTree, type Node } from './tree.ts';

const TAGS = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0a, 0x0c, 0x0d, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1c,
  0x1e, 0x30, 0x31, 0x80, 0x81, 0x82, 0x86, 0x87, 0x88, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4,
];

interface Place {
  readonly node: Node;
  readonly siblings: Node[];
}

/** Changes the value at a place; `others` are values to put there. */
type Mutation = (place: Place, dice: Dice, others: readonly Node[]) => void;

const MUTATIONS: readonly Mutation[] = [
  changeContent,
  changeContent,
  changeContent,
  ({ node }, dice) => (node.tag = dice.of(TAGS)),
  ({ node }, dice) => (node.tag ^= dice.of([0x20, 0x40, 0x80])),
  changeLength,
  ({ node, siblings }) => siblings.splice(siblings.indexOf(node), 1),
  ({ node, siblings }) => siblings.splice(siblings.indexOf(node), 0, copyTree(node)),
  swap,
  ({ node, siblings }, dice, others) =>
    siblings.splice(siblings.indexOf(node), 1, copyTree(dice.of(others))),
  ({ node, siblings }, dice, others) =>
    siblings.splice(siblings.indexOf(node), 0, copyTree(dice.of(others))),
  ({ node }, dice, others) => node.children?.push(copyTree(dice.of(others))),
];

/** One change of a value somewhere in a tree: its lengths stay right, but for one that lies. */
export function mutateTree(root: Node, dice: Dice, others: readonly Node[]): void {
  const places = placesOf(root);
  if (places.length > 0) dice.of(MUTATIONS)(dice.of(places), dice, others);
}

function changeContent({ node }: Place, dice: Dice): void {
  if (node.children === undefined) node.content = mutateBytes(node.content, dice);
  else if (node.content.length > 0) node.content = Uint8Array.of(dice.roll(9));
  else node.children.reverse();
}

function changeLength({ node }: Place, dice: Dice): void {
  const size = encodeTree({ ...node, length: [] }).length - 1;
  const right = lengthOctets(size);
  node.length = dice.of<readonly number[]>(
    [
      lengthOctets(size + 1),
      lengthOctets(Math.max(0, size - 1)),
      [0x81, size & 0xff],
      [0x82, size >> 8, size & 0xff],
      [0x84, 0, 0, size >> 8, size & 0xff],
      [0x80],
      [0xff, ...right],
    ].map((octets) => [...octets]),
  );
}

function swap({ node, siblings }: Place, dice: Dice): void {
  const at = siblings.indexOf(node);
  const other = dice.roll(siblings.length);
  const there = siblings[other];
  if (there === undefined) return;
  siblings[other] = node;
  siblings[at] = there;
}

function placesOf(root: Node): readonly Place[] {
  const siblings = root.children ?? [];
  return siblings.flatMap((node) => [{ node, siblings }, ...placesOf(node)]);
}

/** Every value of a tree, to be put elsewhere. */
export function valuesOf(root: Node): readonly Node[] {
  return [root, ...(root.children ?? []).flatMap(valuesOf)];
}
