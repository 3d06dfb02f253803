// SPDX-License-Identifier: Apache-2.0
/** What a signer is held to: cases, and what is said of each. */

export const KINDS = ['csr', 'pcr', 'ctb', 'certificaterequest'] as const;
export type Kind = (typeof KINDS)[number];

export type Outcome = 'pass' | 'fail' | 'skip';

/** What was found, with what was seen. */
export interface AssertionResult {
  readonly outcome: Outcome;
  /** What was seen; of a skip, why nothing could be. */
  readonly evidence: string;
}

/**
 * `must`: the API, an RFC or Kubernetes' own conformance tests demand it. `should`: they advise it, or
 * every careful signer does it; a signer may have its reasons.
 */
export type Level = 'must' | 'should';

/** One thing that must hold. `Snapshot` is what was observed of the signer. */
export interface Case<Snapshot> {
  /** Never given to another case: `PCR-12`. */
  readonly id: string;
  readonly level: Level;
  readonly asserts: string;
  /** KEP, API field, RFC, or upstream's test. */
  readonly source: string;
  /** Total and synchronous: the same snapshot makes the same verdict. */
  readonly evaluate: (snapshot: Snapshot) => AssertionResult;
}

/** A case and what came of it. */
export interface CaseResult extends AssertionResult {
  readonly id: string;
  readonly level: Level;
  readonly asserts: string;
  readonly source: string;
}

/** A case's own text, with the four parts in the order in which they are read. */
type Define = <Snapshot>(
  id: string,
  asserts: string,
  source: string,
  judge: (snapshot: Snapshot) => AssertionResult,
) => Case<Snapshot>;

export const must: Define = (id, asserts, source, judge) => ({
  id,
  level: 'must',
  asserts,
  source,
  evaluate: judge,
});

export const should: Define = (id, asserts, source, judge) => ({
  id,
  level: 'should',
  asserts,
  source,
  evaluate: judge,
});

export function pass(evidence: string): AssertionResult {
  return { outcome: 'pass', evidence };
}

export function fail(evidence: string): AssertionResult {
  return { outcome: 'fail', evidence };
}

export function skip(evidence: string): AssertionResult {
  return { outcome: 'skip', evidence };
}

/** Passes where nothing is wrong. */
export function unless(fault: string | undefined, evidence: string): AssertionResult {
  return fault === undefined ? pass(evidence) : fail(fault);
}

/** The verdict of every case, in the order of the cases. */
export function evaluateAll<Snapshot>(
  cases: readonly Case<Snapshot>[],
  snapshot: Snapshot,
): readonly CaseResult[] {
  return cases.map(({ evaluate: judge, ...facts }) => ({ ...facts, ...judge(snapshot) }));
}
