// SPDX-License-Identifier: Apache-2.0
import { lengthOctets } from '../../support/pki/der.ts';
import { ISSUER, certificate, request } from './bases.ts';
import type { Case } from './case.ts';
import { seal } from '../seal.ts';
import { encodeTree, nodeAtPath, parseTree, type Node } from '../tree.ts';

interface Defect {
  readonly wrong: (what: string) => string;
  readonly source: string;
  /** Changes a value, or its place among its siblings. */
  readonly change: (node: Node, siblings: Node[]) => void;
}

const sizeOf = (node: Node): number => encodeTree({ ...node, length: [] }).length - 1;

/** What can be wrong with any value of DER. */
const DEFECTS = {
  'long-form': {
    wrong: (what) => `the length of ${what} has a needless octet`,
    source: 'X.690 §10.1',
    change: (node) => {
      const size = sizeOf(node);
      node.length = size < 0x80 ? [0x81, size] : [0x83, 0, size >> 8, size & 0xff];
    },
  },
  indefinite: {
    wrong: (what) => `the length of ${what} is indefinite`,
    source: 'X.690 §10.1',
    change: (node) => {
      node.length = [0x80];
    },
  },
  'one-more': {
    wrong: (what) => `the length of ${what} is one more than its octets`,
    source: 'X.690 §8.1.3',
    change: (node) => {
      node.length = lengthOctets(sizeOf(node) + 1);
    },
  },
  tag: {
    wrong: (what) => `${what} has another tag`,
    source: 'X.690 §8.1.2',
    change: (node) => {
      node.tag = node.tag === 0x31 ? 0x30 : (node.tag & 0x20) !== 0 ? 0x31 : 0x09;
    },
  },
  missing: {
    wrong: (what) => `${what} is missing`,
    source: 'X.680 §25',
    change: (node, siblings) => siblings.splice(siblings.indexOf(node), 1),
  },
  empty: {
    wrong: (what) => `${what} is empty`,
    source: 'X.690 §8',
    change: (node) => {
      delete node.children;
      node.content = new Uint8Array();
    },
  },
  trailing: {
    wrong: (what) => `something follows inside ${what}`,
    source: 'X.680 §25',
    change: (node) => node.children?.push({ tag: 0x05, content: new Uint8Array() }),
  },
} as const satisfies Readonly<Record<string, Defect>>;

type DefectName = keyof typeof DEFECTS;

/** Name, path, and the defects that are none here. */
type Place = readonly [what: string, path: readonly number[], not?: readonly DefectName[]];

const REQUEST_PLACES: readonly Place[] = [
  ['the request', [], ['missing']],
  ['the info', [0]],
  ['the version', [0, 0]],
  ['the subject', [0, 1], ['empty']],
  ['a relative name', [0, 1, 0], ['missing']],
  ['an attribute of the subject', [0, 1, 0, 0]],
  ['the type of a name', [0, 1, 0, 0, 0]],
  ['the value of a name', [0, 1, 0, 0, 1]],
  ['the public key', [0, 2]],
  ['the key algorithm', [0, 2, 0]],
  ['the OID of the key algorithm', [0, 2, 0, 0]],
  ['the curve', [0, 2, 0, 1]],
  ['the bits of the key', [0, 2, 1]],
  ['the attributes', [0, 3], ['empty']],
  ['an attribute', [0, 3, 0], ['missing']],
  ['the type of an attribute', [0, 3, 0, 0]],
  ['the values of an attribute', [0, 3, 0, 1]],
  ['the extensions', [0, 3, 0, 1, 0]],
  ['an extension', [0, 3, 0, 1, 0, 0]],
  ['the type of an extension', [0, 3, 0, 1, 0, 0, 0]],
  ['the value of an extension', [0, 3, 0, 1, 0, 0, 1]],
  ['the alternative names', [0, 3, 0, 1, 0, 0, 1, 0]],
  ['an alternative name', [0, 3, 0, 1, 0, 0, 1, 0, 0], ['missing']],
  ['the signature algorithm', [1]],
  ['the OID of the signature algorithm', [1, 0]],
  ['the signature', [2]],
];

const CERTIFICATE_PLACES: readonly Place[] = [
  ['the certificate', [], ['missing']],
  ['the to-be-signed part', [0]],
  ['the version field', [0, 0]],
  ['the version', [0, 0, 0]],
  ['the serial number', [0, 1]],
  ['the inner algorithm', [0, 2]],
  ['the OID of the inner algorithm', [0, 2, 0]],
  ['the issuer', [0, 3]],
  ['a relative name of the issuer', [0, 3, 0]],
  ['the validity', [0, 4]],
  ['notBefore', [0, 4, 0]],
  ['notAfter', [0, 4, 1]],
  ['the subject', [0, 5], ['empty']],
  ['a relative name', [0, 5, 0], ['missing']],
  ['an attribute of the subject', [0, 5, 0, 0]],
  ['the type of a name', [0, 5, 0, 0, 0]],
  ['the value of a name', [0, 5, 0, 0, 1]],
  ['the public key', [0, 6]],
  ['the key algorithm', [0, 6, 0]],
  ['the curve', [0, 6, 0, 1]],
  ['the bits of the key', [0, 6, 1]],
  ['the extension field', [0, 7], ['missing']],
  ['the extensions', [0, 7, 0]],
  ['an extension', [0, 7, 0, 0], ['missing']],
  ['the type of an extension', [0, 7, 0, 0, 0]],
  ['criticality', [0, 7, 0, 0, 1], ['missing']],
  ['the value of an extension', [0, 7, 0, 0, 2]],
  ['the key usage', [0, 7, 0, 0, 2, 0]],
  ['the extended key usage', [0, 7, 0, 1, 1, 0]],
  ['a purpose', [0, 7, 0, 1, 1, 0, 0], ['missing']],
  ['the outer algorithm', [1]],
  ['the signature', [2]],
];

export function framing(): readonly Case[] {
  return [
    ...framingOf('request', REQUEST_PLACES, request()),
    ...framingOf('certificate', CERTIFICATE_PLACES, certificate()),
  ];
}

function framingOf(
  kind: 'request' | 'certificate',
  places: readonly Place[],
  base: Uint8Array,
): readonly Case[] {
  return places.flatMap(([what, path, not = []]) =>
    Object.entries<Defect>(DEFECTS)
      .filter(([defect]) => !not.includes(defect as DefectName))
      .filter(([defect]) => defect !== 'trailing' || isConstructed(base, path))
      .map(([defect, { wrong, source, change }]) => ({
        name: `${kind}/framing/${what.replace(/^(?:the|an?) /, '').replaceAll(' ', '-')}-${defect}`,
        kind,
        wrong: wrong(what),
        source,
        bytes: () => changed(base, path, change),
      })),
  );
}

const isConstructed = (base: Uint8Array, path: readonly number[]): boolean =>
  (nodeAtPath(parseTree(base), path).tag & 0x20) !== 0;

/** Signed after the change where the signature covers it, so that nothing else is wrong. */
function changed(base: Uint8Array, path: readonly number[], change: Defect['change']): Uint8Array {
  const root = parseTree(base);
  const siblings = path.length === 0 ? [] : nodeAtPath(root, path.slice(0, -1)).children;
  change(nodeAtPath(root, path), siblings ?? []);
  if (path[0] === 0) seal(root, ISSUER.key);
  return encodeTree(root);
}
