// SPDX-License-Identifier: Apache-2.0
import {
  NOW,
  ca,
  keyIds,
  link,
  purposes,
  san,
  usage,
  type Link,
  type LinkParts,
} from '../../support/pki/chain.ts';
import { int } from '../../support/pki/der.ts';
import { LEAF_USAGE } from '../corpus/bases.ts';
import type { ChainParts } from '../oracle.ts';

export const CLIENT = '1.3.6.1.5.5.7.3.2';
export const SERVER = '1.3.6.1.5.5.7.3.1';

/** One chain that a user could put into a Secret or a bundle. */
export interface ChainCase {
  readonly name: string;
  /** Empty where nothing is wrong, and then everybody must take it. */
  readonly wrong: string;
  readonly source: string;
  readonly parts: () => ChainParts;
}

/** Name → what is wrong, where that is written, and the chain. */
export type ChainTable = Readonly<
  Record<string, readonly [wrong: string, source: string, made: () => ChainParts]>
>;

export function chainsOf(theme: string, table: ChainTable): readonly ChainCase[] {
  return Object.entries(table).map(([name, [wrong, source, parts]]) => ({
    name: `${theme}/${name}`,
    wrong,
    source,
    parts,
  }));
}

export interface Wanted extends LinkParts {
  /** Instead of what is there without it. */
  readonly constraints?: Uint8Array;
  /** Instead of the name, what the key identifier is made of. */
  readonly id?: string;
  readonly usage?: Uint8Array;
  readonly more?: readonly Uint8Array[];
}

let serials = 0;
const nextSerial = (): Uint8Array => int(0x40, ++serials >> 8, serials & 0xff);

/** A CA with nothing wrong, but for what is wanted. */
export function authority(name: string, wanted: Wanted = {}): Link {
  const { constraints = ca(), usage: bits = usage(), more = [], id = name, ...parts } = wanted;
  const extensions = [constraints, bits, ...keyIds(id, parts.by?.name ?? id), ...more];
  return link(name, { serial: nextSerial(), extensions, ...parts });
}

export const NAMES = san([2, 'web.example'], [6, 'spiffe://example/ns/a/sa/web']);

/** A leaf with nothing wrong, but for what is wanted. */
export function leaf(by: Link, more: readonly Uint8Array[] = [NAMES], parts: LinkParts = {}): Link {
  const extensions = [LEAF_USAGE, purposes(SERVER, CLIENT), ...keyIds('leaf', by.name), ...more];
  return link('leaf', { by, serial: nextSerial(), extensions, ...parts });
}

/** Leaf first; `anchors` may be several. */
export function chain(
  end: Link,
  intermediates: readonly Link[],
  anchors: readonly Link[],
  now = NOW,
): ChainParts {
  const raw = ({ certificate }: Link): Uint8Array => certificate.raw;
  return {
    leaf: raw(end),
    intermediates: intermediates.map(raw),
    roots: anchors.map(raw),
    now,
  };
}

/** A leaf below a middle CA below a root, each with what is wanted. */
export function three(root: Wanted, middle: Wanted, end?: readonly Uint8Array[]): ChainParts {
  const top = authority('root', root);
  const below = authority('middle', { by: top, ...middle });
  return chain(leaf(below, end), [below], [top]);
}

/** A leaf at the end of so many CAs below a root. */
export function long(count: number, root: Wanted = {}): ChainParts {
  const top = authority('root', root);
  const between: Link[] = [];
  for (let i = 0; i < count; i++) {
    between.push(authority(`middle ${i}`, { by: between.at(-1) ?? top }));
  }
  return chain(leaf(between.at(-1) ?? top), between, [top]);
}
