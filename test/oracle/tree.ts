// SPDX-License-Identifier: Apache-2.0
import { lengthOctets, type Octets } from '../support/pki/der.ts';

/** One value of DER, to be changed and written again. Shares no code with src/pki. */
export interface Node {
  tag: number;
  /** Of what holds other values: constructed ones, and strings that wrap DER. */
  children?: Node[];
  /** Of everything else. With children: what stands before them, a BIT STRING's unused bits. */
  content: Uint8Array;
  /** Instead of the right length. */
  length?: Octets;
}

const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const NONE = new Uint8Array();

/** @throws Error where the bytes are not DER */
export function parseTree(der: Uint8Array): Node {
  const [node, end] = nodeAt(der, 0);
  if (end !== der.length) throw new Error('there is something after the value');
  return node;
}

function nodeAt(der: Uint8Array, at: number): readonly [Node, number] {
  const [tag, first] = [octetAt(der, at), octetAt(der, at + 1)];
  const count = first < 0x80 ? 0 : first & 0x7f;
  let length = count === 0 ? first : 0;
  for (let i = 0; i < count; i++) length = length * 256 + octetAt(der, at + 2 + i);
  const start = at + 2 + count;
  const end = start + length;
  if (end > der.length) throw new Error('a value is cut off');
  return [nodeOf(tag, der.subarray(start, end)), end];
}

function octetAt(der: Uint8Array, at: number): number {
  const octet = der[at];
  if (octet === undefined) throw new Error('a value is cut off');
  return octet;
}

function nodeOf(tag: number, content: Uint8Array): Node {
  if ((tag & 0x20) !== 0) return { tag, content: NONE, children: childrenOf(content) };
  const skipped = tag === BIT_STRING && content[0] === 0 ? 1 : 0;
  if (tag === OCTET_STRING || skipped === 1) {
    const wrapped = wrappedIn(content.subarray(skipped));
    if (wrapped !== undefined)
      return { tag, content: content.subarray(0, skipped), children: [wrapped] };
  }
  return { tag, content };
}

function childrenOf(content: Uint8Array): Node[] {
  const children: Node[] = [];
  for (let at = 0; at < content.length;) {
    const [child, end] = nodeAt(content, at);
    children.push(child);
    at = end;
  }
  return children;
}

/**
 * Key identifiers and signatures are DER by chance only; what is DER on purpose has a known tag.
 */
function wrappedIn(content: Uint8Array): Node | undefined {
  if (![0x30, BIT_STRING, OCTET_STRING, 0x02].includes(content[0] ?? 0)) return undefined;
  try {
    return parseTree(content);
  } catch {
    return undefined;
  }
}

export function encodeTree(node: Node): Uint8Array {
  const inner = node.children?.map(encodeTree) ?? [];
  const size = inner.reduce((sum, each) => sum + each.length, node.content.length);
  const length = node.length ?? lengthOctets(size);
  return Buffer.concat([Uint8Array.of(node.tag), Uint8Array.from(length), node.content, ...inner]);
}

export function copyTree(node: Node): Node {
  return node.children === undefined
    ? { ...node }
    : { ...node, children: node.children.map(copyTree) };
}

/** The value at a path of positions. */
export function nodeAtPath(root: Node, path: readonly number[]): Node {
  let node = root;
  for (const position of path) {
    const next = node.children?.[position];
    if (next === undefined) throw new Error(`there is no value at ${path.join('.')}`);
    node = next;
  }
  return node;
}
