// SPDX-License-Identifier: Apache-2.0
/** The evaluation of rules. The command line implements it, and passes it to the console. */
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';

/** A request of the cluster for trying rules, with the kind that `explain` takes. */
export type SampleRequest =
  | { readonly kind: 'csr'; readonly object: CertificateSigningRequest }
  | { readonly kind: 'pcr'; readonly object: PodCertificateRequest }
  | { readonly kind: 'certificaterequest'; readonly object: CertificateRequest };

/** The verdict of rules. `UNKNOWN`: they read data that the sample lacks. */
export interface SampleVerdict {
  readonly word: 'APPROVE' | 'DENY' | 'NO OPINION' | 'UNKNOWN';
  /** Reasons, or the names that the leaf would have. */
  readonly message: string;
}

/** A recorded request that the rules decide differently. */
export interface ReplayedSample {
  readonly request: string;
  readonly requester: string;
  readonly before: string;
  readonly now: string;
  readonly message: string;
}

/** The result of a replay of recorded requests. */
export interface ReplayResult {
  readonly requests: number;
  readonly same: number;
  readonly different: readonly ReplayedSample[];
  readonly unknown: number;
  /** The reason why not all records of the time were judged, or undefined. */
  readonly cut: string | undefined;
}

/** Rules that were read and compiled. */
export interface ReadRules {
  readonly signerName: string;
  /** @throws SignerError, or EvaluationDeferred, of the rules */
  readonly judge: (sample: SampleRequest) => Promise<SampleVerdict>;
  /**
   * Judges the requests of the last week that the ledger recorded.
   *
   * @throws KubeError, SignerError of the ledger or the rules, EvaluationDeferred
   */
  readonly replay: () => Promise<ReplayResult>;
}

/** Evaluates rules under the watchdog, with one budget of CPU time for a session. */
export interface RulesEngine {
  /** Returns the YAML of a signer, without fields that the API server sets. */
  readonly yamlOf: (signer: ClusterSigner) => string;
  /** @throws SignerError SPEC_INVALID, CEL_INVALID or CEL_COST, or EvaluationDeferred */
  readonly read: (yaml: string) => Promise<ReadRules>;
}
