// SPDX-License-Identifier: Apache-2.0
import type {
  AuthorityStatus,
  ClusterSigner,
  ClusterSignerStatus,
} from '../../api/cluster-signer.ts';
import { setCondition } from '../../api/conditions.ts';
import { formatTime } from '../../api/time.ts';
import type { AuthorityFacts } from '../../authorities/contract.ts';

/** Reasons of Ready, one place; docs/reference/cluster-signer.md explains each. */
export type ReadyReason =
  | 'Checked'
  | 'Initializing'
  | 'SignerNameTaken'
  | 'InvalidSpec'
  | 'SecretNotFound'
  | 'SecretNotGranted'
  | 'NoTrustAnchor'
  | 'AuthorityUnavailable';

export interface Finding {
  readonly reason: ReadyReason;
  readonly message: string;
  readonly createSecret?: boolean;
  /** The CA was looked at, and time may change what was found. */
  readonly inspected?: boolean;
  /** The CA that signs, when there is a usable one. */
  readonly active?: AuthorityFacts;
}

interface StatusInput {
  readonly signer: ClusterSigner;
  readonly finding: Finding;
  readonly authorities: readonly AuthorityStatus[];
  readonly now: number;
}

/** The whole status as `authority`, its only writer, puts it. */
export function statusOf(input: StatusInput): ClusterSignerStatus {
  const { signer, finding, authorities } = input;
  const generation = signer.metadata.generation ?? 0;
  return {
    observedGeneration: generation,
    conditions: setCondition(signer.status?.conditions, {
      type: 'Ready',
      status: finding.active === undefined ? 'False' : 'True',
      reason: finding.reason,
      message: finding.message,
      observedGeneration: generation,
      lastTransitionTime: formatTime(input.now),
    }),
    authorities,
  };
}
