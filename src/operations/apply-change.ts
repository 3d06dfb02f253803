// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../kube/client/client.ts';
import { KubeError } from '../kube/client/kube-error.ts';
import { unresolvedErrors, type Change, type ChangePlan } from './change-plan.ts';
import type { OperationReport, Verb } from './report.ts';
import type { SignerState } from './signer-state.ts';
import type { ClusterSigner } from '../api/signer/cluster-signer.ts';
import { CLUSTER_SIGNERS } from '../runtime/signers/cluster-signers.ts';

/** One run of a verb that changes a ClusterSigner. */
export interface ApplyChangeInit {
  readonly client: Client;
  readonly verb: Verb;
  readonly readState: () => Promise<SignerState>;
  readonly plan: (state: SignerState) => Promise<ChangePlan> | ChangePlan;
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** The authority component writes the status a few times while it rotates a CA. No other client writes that often. */
const MAX_CONFLICTS = 5;

/**
 * Reads the ClusterSigner, plans the change, and writes it with `metadata.resourceVersion` as the
 * precondition. On a conflict it starts again: a plan holds only for the version it was made from.
 *
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
  const { change, target } = plan;
  const report = {
    verb,
    clusterSigner: state.signer.metadata.name,
    ...(target === undefined ? {} : { target }),
    dryRun,
    notes: plan.notes,
  };
  const errors = unresolvedErrors(plan, force);
  if (errors.length > 0) {
    const canForce = errors.every(({ fatal }) => fatal !== true);
    const notes = canForce ? ['use --force to override'] : [];
    const refusals = errors.map(({ message }) => message);
    return { ...report, notes, refusals, outcome: 'refused' };
  }
  const overruled = plan.preflightErrors.map(({ message }) => `overridden by --force: ${message}`);
  const given = { ...report, refusals: [], notes: [...overruled, ...plan.notes] };
  if (change === undefined) return { ...given, outcome: 'unchanged' };
  await patchClusterSigner(client, state.signer, change, dryRun);
  return { ...given, outcome: 'changed', change };
}

/** Field manager in `metadata.managedFields`. */
const FIELD_MANAGER = 'countersign-authority-verbs';

/** The JSON merge patch (RFC 7396) of a change. Its resourceVersion makes it fail on any other version. */
function patchOf(signer: ClusterSigner, { annotations, distrust = [] }: Change): object {
  const before = signer.spec.authority.managed?.distrusted ?? [];
  return {
    metadata: {
      resourceVersion: signer.metadata.resourceVersion,
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(distrust.length === 0
      ? {}
      : { spec: { authority: { managed: { distrusted: [...before, ...distrust] } } } }),
  };
}

/**
 * Patches the ClusterSigner with the user's permissions.
 *
 * @param dryRun - `dryRun=All`: the API server checks permissions and admission, and stores nothing
 * @throws KubeError KUBE_CONFLICT when the ClusterSigner changed since it was read
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
