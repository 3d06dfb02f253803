// SPDX-License-Identifier: Apache-2.0
/** Cases that are the same of every leaf, however it was requested. */
import { must, should, type Case, type Level, type AssertionResult } from './case.ts';
import { hasNoRoot, isInOrder, hasOnlyCertificateBlocks } from './assertions/chain.ts';
import {
  hasLongSerial,
  hasExtKeyUsage,
  isNotCa,
  hasIssuerKeyIdentifier,
  hasSubjectOrNames,
  hasCriticalKeyUsage,
} from './assertions/leaf.ts';
import type { LeafAssertion } from './snapshot.ts';

interface Text {
  readonly level: Level;
  readonly asserts: string;
  readonly source: string;
  readonly assertion: LeafAssertion;
}

const TEXTS = {
  inOrder: {
    level: 'must',
    asserts: 'each certificate of the chain certifies the one before it',
    source: 'RFC 8446 §4.4.2',
    assertion: isInOrder,
  },
  noRoot: {
    level: 'should',
    asserts: 'the chain has no root',
    source: 'RFC 8446 §4.4.2',
    assertion: hasNoRoot,
  },
  plainPem: {
    level: 'should',
    asserts: 'the text is CERTIFICATE blocks and nothing else',
    source: 'RFC 7468 §5.1',
    assertion: hasOnlyCertificateBlocks,
  },
  noAuthority: {
    level: 'must',
    asserts: 'the leaf is not a CA',
    source: 'RFC 5280 §4.2.1.9, §4.2.1.3',
    assertion: isNotCa,
  },
  goodSerial: {
    level: 'must',
    asserts: 'the serial has room for 64 random bits',
    source: 'RFC 5280 §4.1.2.2; CA/Browser Forum BR §7.1',
    assertion: hasLongSerial,
  },
  issuersKey: {
    level: 'must',
    asserts: 'authorityKeyIdentifier matches the CA',
    source: 'RFC 5280 §4.2.1.1',
    assertion: hasIssuerKeyIdentifier,
  },
  subjectOrNames: {
    level: 'must',
    asserts: 'the leaf has a subject, or a critical subjectAltName',
    source: 'RFC 5280 §4.1.2.6',
    assertion: hasSubjectOrNames,
  },
  criticalUsage: {
    level: 'should',
    asserts: 'keyUsage is present and critical',
    source: 'RFC 5280 §4.2.1.3',
    assertion: hasCriticalKeyUsage,
  },
  purpose: {
    level: 'should',
    asserts: 'extKeyUsage is present and is not "any"',
    source: 'RFC 5280 §4.2.1.12',
    assertion: hasExtKeyUsage,
  },
} as const satisfies Readonly<Record<string, Text>>;

/**
 * Makes such cases of one kind of requests.
 *
 * @param judge - judges the kind's ordinary leaf by a assertion
 * @returns a case under `id`; `alsoFrom` is a source that only this kind has
 */
export function leafCases<Snapshot>(
  judge: (assertion: LeafAssertion) => (snapshot: Snapshot) => AssertionResult,
): (id: string, name: keyof typeof TEXTS, alsoFrom?: string) => Case<Snapshot> {
  return (id, name, alsoFrom) => {
    const { level, asserts, source, assertion }: Text = TEXTS[name];
    const define = { must, should }[level];
    const sources = alsoFrom === undefined ? source : `${source}; ${alsoFrom}`;
    return define(id, asserts, sources, judge(assertion));
  };
}
