// SPDX-License-Identifier: Apache-2.0
/** The answer of `countersign authority taint` and `revoke` for a CA, before they run. */
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import type { PodScan } from '#operations/pods/find-pods.ts';
import { reportPlan, type OperationReport } from '#operations/report.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { planRevocation } from '#operations/verbs/plan-revocation.ts';
import { taint } from '#operations/verbs/taint.ts';

/** The effects of the loss of a CA. */
export interface CaLoss {
  readonly fingerprint: string;
  readonly phase: AuthorityStatus['phase'];
  readonly taint: OperationReport;
  readonly revoke: OperationReport;
  /** Undefined if the person may not list the pods. */
  readonly pods: PodScan | undefined;
}

/** Facts beside the signer that decide about the loss of a CA. */
export interface LossFacts {
  readonly scan: (authority: AuthorityStatus) => PodScan | undefined;
  /** Undefined if the person may not find out. */
  readonly hasCertManager: boolean | undefined;
}

/** Plans both verbs as the commands do, without `--force`, and writes nothing. */
export async function planLoss(
  state: SignerState,
  authority: AuthorityStatus,
  { scan, hasCertManager }: LossFacts,
): Promise<CaLoss> {
  const { fingerprint, phase } = authority;
  const reads = {
    pods: (of: AuthorityStatus) => Promise.resolve(scan(of)?.affected.length),
    hasCertManager: () => Promise.resolve(hasCertManager),
  };
  const clusterSigner = state.signer.metadata.name;
  const given = { clusterSigner, dryRun: true, force: false } as const;
  const revocation = await planRevocation(reads, state, fingerprint);
  return {
    fingerprint,
    phase,
    taint: reportPlan(taint(state, fingerprint), { ...given, verb: 'taint' }),
    revoke: reportPlan(revocation, { ...given, verb: 'revoke' }),
    pods: scan(authority),
  };
}
