// SPDX-License-Identifier: Apache-2.0
/** A case is one thing that must hold of a signer. */

/** The values of `--kind`: the API types whose signers can be checked. */
export const KINDS = ['csr', 'pcr', 'ctb', 'certificaterequest'] as const;
/** One of {@link KINDS}. */
export type Kind = (typeof KINDS)[number];

/** `skip`: the run gave nothing to evaluate, for example for lack of a permission. */
export type CaseOutcome = 'pass' | 'fail' | 'skip';

/** What an assertion found, with the evidence. */
export interface AssertionResult {
  readonly outcome: CaseOutcome;
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
  /** Total and synchronous: the same snapshot gives the same result. */
  readonly evaluate: (snapshot: Snapshot) => AssertionResult;
}

/** A case and its result. */
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

/** A case of level `must`. */
export const must: Define = (id, asserts, source, judge) => ({
  id,
  level: 'must',
  asserts,
  source,
  evaluate: judge,
});

/** A case of level `should`. */
export const should: Define = (id, asserts, source, judge) => ({
  id,
  level: 'should',
  asserts,
  source,
  evaluate: judge,
});

/** A passed assertion. */
export function pass(evidence: string): AssertionResult {
  return { outcome: 'pass', evidence };
}

/** A failed assertion. */
export function fail(evidence: string): AssertionResult {
  return { outcome: 'fail', evidence };
}

/** An assertion that had nothing to evaluate. */
export function skip(evidence: string): AssertionResult {
  return { outcome: 'skip', evidence };
}

/** Fails with `fault`; passes with `evidence` when there is none. */
export function unless(fault: string | undefined, evidence: string): AssertionResult {
  return fault === undefined ? pass(evidence) : fail(fault);
}

/** The result of every case, in the order of the cases. */
export function evaluateAll<Snapshot>(
  cases: readonly Case<Snapshot>[],
  snapshot: Snapshot,
): readonly CaseResult[] {
  return cases.map(({ evaluate: judge, ...facts }) => ({ ...facts, ...judge(snapshot) }));
}
