// SPDX-License-Identifier: Apache-2.0
/** Defines cases. Each is one requirement for a signer. */

/** The values of `--kind`: the API types of the signers to check. */
export const KINDS = ['csr', 'pcr', 'ctb', 'certificaterequest'] as const;
/** One of {@link KINDS}. */
export type Kind = (typeof KINDS)[number];

/** `skip`: the run gave nothing to evaluate, for example for lack of a permission. */
export type CaseOutcome = 'pass' | 'fail' | 'skip';

/** The finding of an assertion, with the evidence. */
export interface AssertionResult {
  readonly outcome: CaseOutcome;
  /** The observation. For a skip, the reason why there is none. */
  readonly evidence: string;
}

/**
 * The level of a requirement.
 * - `must`: the API, an RFC or Kubernetes' own conformance tests demand it.
 * - `should`: they recommend it, or every careful signer does it. A signer may have reasons to
 *   differ.
 */
export type Level = 'must' | 'should';

/** One requirement. `Snapshot` is the observation of the signer. */
export interface Case<Snapshot> {
  /** An id that no other case gets: `PCR-12`. */
  readonly id: string;
  readonly level: Level;
  readonly asserts: string;
  /** The KEP, API field, RFC, or upstream's test. */
  readonly source: string;
  /** Evaluates a snapshot. Total and synchronous: the same snapshot gives the same result. */
  readonly evaluate: (snapshot: Snapshot) => AssertionResult;
}

/** A case and its result. */
export interface CaseResult extends AssertionResult {
  readonly id: string;
  readonly level: Level;
  readonly asserts: string;
  readonly source: string;
}

/** The text of a case, with its four parts in reading order. */
type Define = <Snapshot>(
  id: string,
  asserts: string,
  source: string,
  judge: (snapshot: Snapshot) => AssertionResult,
) => Case<Snapshot>;

/** Defines a case of level `must`. */
export const must: Define = (id, asserts, source, judge) => ({
  id,
  level: 'must',
  asserts,
  source,
  evaluate: judge,
});

/** Defines a case of level `should`. */
export const should: Define = (id, asserts, source, judge) => ({
  id,
  level: 'should',
  asserts,
  source,
  evaluate: judge,
});

/** Returns a passed assertion. */
export function pass(evidence: string): AssertionResult {
  return { outcome: 'pass', evidence };
}

/** Returns a failed assertion. */
export function fail(evidence: string): AssertionResult {
  return { outcome: 'fail', evidence };
}

/** Returns an assertion that had nothing to evaluate. */
export function skip(evidence: string): AssertionResult {
  return { outcome: 'skip', evidence };
}

/** Fails with `fault`, or passes with `evidence` when there is none. */
export function unless(fault: string | undefined, evidence: string): AssertionResult {
  return fault === undefined ? pass(evidence) : fail(fault);
}

/** Returns the result of every case, in the order of the cases. */
export function evaluateAll<Snapshot>(
  cases: readonly Case<Snapshot>[],
  snapshot: Snapshot,
): readonly CaseResult[] {
  return cases.map(({ evaluate: judge, ...facts }) => ({ ...facts, ...judge(snapshot) }));
}
