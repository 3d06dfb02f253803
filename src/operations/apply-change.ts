// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { Change, ChangePlan } from './change-plan.ts';
import { reportPlan, type OperationReport, type Verb } from './report.ts';
import type { SignerState } from './signer-state.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';

/** Dependencies of one run of a verb that changes a ClusterSigner. */
export interface ApplyChangeInit {
  readonly client: Client;
  readonly verb: Verb;
  readonly readState: () => Promise<SignerState>;
  readonly plan: (state: SignerState) => Promise<ChangePlan> | ChangePlan;
  readonly force: boolean;
  readonly dryRun: boolean;
}

/**
 * Conflicts to tolerate. The authority component writes the status a few times while it rotates a
 * CA. No other client writes that often.
 */
const MAX_CONFLICTS = 5;

/**
 * Reads the ClusterSigner, plans the change, and writes it with `metadata.resourceVersion` as the
 * precondition. It starts again on a conflict, because a plan holds only for its version.
 * @throws KubeError of the API server; KUBE_CONFLICT after {@link MAX_CONFLICTS} conflicts
 */
export async function applyChange(init: ApplyChangeInit): Promise<OperationReport> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await attemptChange(init);
    } catch (error) {
      const isConflict = error instanceof KubeError && error.code === 'KUBE_CONFLICT';
      if (!isConflict || conflicts === MAX_CONFLICTS) throw error;
    }
  }
}

async function attemptChange(init: ApplyChangeInit): Promise<OperationReport> {
  const { client, verb, force, dryRun } = init;
  const state = await init.readState();
  const plan = await init.plan(state);
  const clusterSigner = state.signer.metadata.name;
  const report = reportPlan(plan, { verb, clusterSigner, force, dryRun });
  if (report.change !== undefined) {
    await patchClusterSigner(client, state.signer, report.change, dryRun);
  }
  return report;
}

/** Field manager in `metadata.managedFields`. */
const FIELD_MANAGER = 'countersign-authority-verbs';

/**
 * Returns the JSON merge patch (RFC 7396) of a change. Its resourceVersion makes it fail on any
 * other version.
 */
function patchOf(signer: ClusterSigner, { annotations, distrust = [], upstream }: Change): object {
  const before = signer.spec.authority.managed?.distrusted ?? [];
  const managed = {
    ...(distrust.length === 0 ? {} : { distrusted: [...before, ...distrust] }),
    ...(upstream === undefined ? {} : { upstream: { manual: upstream } }),
  };
  return {
    metadata: {
      resourceVersion: signer.metadata.resourceVersion,
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(Object.keys(managed).length === 0 ? {} : { spec: { authority: { managed } } }),
  };
}

/**
 * Patches the ClusterSigner with the user's permissions.
 * @param dryRun - `dryRun=All`: the API server checks permissions and admission, and stores nothing
 * @throws KubeError KUBE_CONFLICT if the ClusterSigner has changed since it was read
 */
async function patchClusterSigner(
  client: Client,
  signer: ClusterSigner,
  change: Change,
  dryRun: boolean,
): Promise<void> {
  await client.request({
    method: 'PATCH',
    path: CLUSTER_SIGNERS.object({ name: signer.metadata.name }),
    query: { fieldManager: FIELD_MANAGER, dryRun: dryRun ? 'All' : undefined },
    contentType: 'application/merge-patch+json',
    body: patchOf(signer, change),
  });
}
