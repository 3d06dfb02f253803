// SPDX-License-Identifier: Apache-2.0
/** The data of the page Overview. The browser has this file as well, so it imports types only. */
import type { Finding, ReadResult, Severity } from '#diagnose/check/finding.ts';
import type { SignerSummary } from '#operations/show/signer-summary.ts';

/** Severities, worst first. */
export const SEVERITIES = ['error', 'warning', 'unseen', 'ok'] as const satisfies Severity[];

/** Rows of each part. The links lead to all. */
export const MAX_ROWS = 40;

/** Rows of a part, and the number of all. */
export interface Rows<T> {
  readonly rows: readonly T[];
  readonly total: number;
}

/** The findings of `countersign check`. */
export interface FindingsPart {
  readonly counts: Readonly<Record<Severity, number>>;
  /** Worst first, without those that another finding causes. */
  readonly shown: Rows<Finding>;
}

/** Requests of one signer that wait for the same. */
export interface WaitingCount {
  readonly signerName: string;
  readonly waitsForApproval: boolean;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly oldest: number;
}

/** The next scheduled event of a CA. */
export interface ScheduledEvent {
  readonly signer: string;
  readonly fingerprint: string;
  readonly what: string;
  /** RFC 3339. */
  readonly at: string;
}

/** Certificates of one signer that were issued within a day. */
export interface DayCount {
  readonly signerName: string;
  readonly count: number;
}

/** The certificates of the last day. */
export interface DayModel extends Rows<DayCount> {
  readonly places: readonly string[];
  /** Number of records at which the search stopped, if the ledger has more. */
  readonly cutAt?: number | undefined;
}

/** Objects of one kind that were read so far. */
export interface ReadCount {
  /** Plural of the kind, such as `pods`. */
  readonly what: string;
  readonly count: number;
  /** Number of all, where the API server reports it. */
  readonly total?: number | undefined;
}

/** A signer in the list. */
export interface SignerRow extends Pick<
  SignerSummary,
  'name' | 'signerName' | 'ready' | 'warnings'
> {
  /** Number of its CAs. */
  readonly authorities: number;
}

/** The data of the page Overview. A part is absent while it is being read. */
export interface OverviewModel {
  readonly findings?: FindingsPart;
  readonly signers?: ReadResult<Rows<SignerRow>>;
  readonly waiting?: ReadResult<Rows<WaitingCount>>;
  /** Soonest first. */
  readonly scheduled?: Rows<ScheduledEvent>;
  readonly day?: DayModel;
  /** Objects read so far, or undefined if nothing is being read. */
  readonly reading: readonly ReadCount[] | undefined;
  /** Errors of reads, for people. */
  readonly failures: readonly string[];
}
