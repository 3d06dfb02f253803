// SPDX-License-Identifier: Apache-2.0
/** Cases that are the same of every leaf, however it was requested. */
import { must, should, type Case, type Level, type Verdict } from './case.ts';
import { hasNoRoot, isInOrder, isPlainPem } from './assertions/chain.ts';
import {
  hasGoodSerial,
  hasPurpose,
  isNoAuthority,
  namesIssuersKey,
  namesSomebody,
  usageIsCritical,
} from './assertions/leaf.ts';
import type { LeafLaw } from './snapshot.ts';

interface Text {
  readonly level: Level;
  readonly asserts: string;
  readonly source: string;
  readonly law: LeafLaw;
}

const TEXTS = {
  inOrder: {
    level: 'must',
    asserts: 'each certificate of the chain certifies the one before it',
    source: 'RFC 8446 §4.4.2',
    law: isInOrder,
  },
  noRoot: {
    level: 'should',
    asserts: 'the chain has no root',
    source: 'RFC 8446 §4.4.2',
    law: hasNoRoot,
  },
  plainPem: {
    level: 'should',
    asserts: 'the text is CERTIFICATE blocks and nothing else',
    source: 'RFC 7468 §5.1',
    law: isPlainPem,
  },
  noAuthority: {
    level: 'must',
    asserts: 'the leaf is no CA',
    source: 'RFC 5280 §4.2.1.9, §4.2.1.3',
    law: isNoAuthority,
  },
  goodSerial: {
    level: 'must',
    asserts: 'the serial has room for 64 random bits',
    source: 'RFC 5280 §4.1.2.2; CA/Browser Forum BR §7.1',
    law: hasGoodSerial,
  },
  issuersKey: {
    level: 'must',
    asserts: 'authorityKeyIdentifier is that of the CA',
    source: 'RFC 5280 §4.2.1.1',
    law: namesIssuersKey,
  },
  somebody: {
    level: 'must',
    asserts: 'the leaf names somebody; without a subject subjectAltName is critical',
    source: 'RFC 5280 §4.1.2.6',
    law: namesSomebody,
  },
  criticalUsage: {
    level: 'should',
    asserts: 'keyUsage is there and critical',
    source: 'RFC 5280 §4.2.1.3',
    law: usageIsCritical,
  },
  purpose: {
    level: 'should',
    asserts: 'extKeyUsage is there, and is not "any"',
    source: 'RFC 5280 §4.2.1.12',
    law: hasPurpose,
  },
} as const satisfies Readonly<Record<string, Text>>;

/**
 * Makes such cases of one kind of requests.
 *
 * @param judge - judges the kind's ordinary leaf by a law
 * @returns a case under `id`; `alsoFrom` is a source that only this kind has
 */
export function leafCases<World>(
  judge: (law: LeafLaw) => (world: World) => Verdict,
): (id: string, name: keyof typeof TEXTS, alsoFrom?: string) => Case<World> {
  return (id, name, alsoFrom) => {
    const { level, asserts, source, law }: Text = TEXTS[name];
    const define = { must, should }[level];
    const sources = alsoFrom === undefined ? source : `${source}; ${alsoFrom}`;
    return define(id, asserts, sources, judge(law));
  };
}
