// SPDX-License-Identifier: Apache-2.0
/** The data of the page Rules. The browser has this file as well, so it imports types only. */
import type { ReplayResult, SampleVerdict } from '../rules-engine.ts';

/** One sample request with its verdicts. */
export interface JudgedSample {
  /** `csr/NAME`, or `pcr/NAME` with a namespace. */
  readonly subject: string;
  readonly namespace: string;
  readonly requester: string;
  /** Verdict of the rules in the cluster. */
  readonly current: SampleVerdict;
  /** Verdict of the rules in the text. */
  readonly typed: SampleVerdict;
}

/** The verdicts of the rules in a text. */
export interface RulesResults {
  /** The reason why the text cannot be evaluated. */
  readonly fault?: string;
  readonly samples: readonly JudgedSample[];
  /** Kinds of samples that are not shown, or not all, with the reason. */
  readonly notes: readonly string[];
  /** Recorded requests of the last week, or why they cannot be read. Absent unless requested. */
  readonly replay?: ReplayResult | string;
}

/** The data of the page Rules. */
export interface RulesModel {
  /** Names of the ClusterSigners. */
  readonly signers: readonly string[];
  readonly signer: string;
  readonly yaml: string;
  readonly results: RulesResults;
}

/** A text of rules, as a form sends it. */
export interface RulesForm {
  /** Name of a ClusterSigner. */
  readonly signer: string | undefined;
  readonly yaml: string;
  /** True to judge the records of the last week as well. */
  readonly replays: boolean;
}

/** Reports whether both texts of rules decide a sample alike. */
export function isSameVerdict({ current, typed }: JudgedSample): boolean {
  return (
    current.word === typed.word && (current.word !== 'APPROVE' || current.message === typed.message)
  );
}
