// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../kube/client/client.ts';
import { KubeError } from '../kube/client/kube-error.ts';
import { unresolvedErrors, type Change, type ChangePlan } from './change-plan.ts';
import type { OperationReport, Verb } from './report.ts';
import type { SignerState } from './signer-state.ts';
import type { ClusterSigner } from '../api/signer/cluster-signer.ts';
import { CLUSTER_SIGNERS } from '../runtime/signers/signers.ts';

export interface ApplyChangeInit {
  readonly client: Client;
  readonly verb: Verb;
  readonly readState: () => Promise<SignerState>;
  readonly plan: (state: SignerState) => Promise<ChangePlan> | ChangePlan;
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** `authority` writes the status a few times while it rotates; nobody else is that busy. */
const MAX_CONFLICTS = 5;

/**
 * Looks, asks the gate, writes. Where somebody changed the ClusterSigner in between, all of it is done
 * again: the gate must have seen what the write goes onto.
 *
 * @throws KubeError
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
    const notes = canForce ? ['--force gives the order all the same'] : [];
    const refusals = errors.map(({ message }) => message);
    return { ...report, notes, refusals, outcome: 'refused' };
  }
  const overruled = plan.preflightErrors.map(({ message }) => `in spite of this: ${message}`);
  const given = { ...report, refusals: [], notes: [...overruled, ...plan.notes] };
  if (change === undefined) return { ...given, outcome: 'unchanged' };
  await patchClusterSigner(client, state.signer, change, dryRun);
  return { ...given, outcome: 'changed', change };
}

/** Who wrote these fields, in `managedFields`. */
const FIELD_MANAGER = 'countersign-authority-verbs';

/** The JSON merge patch (RFC 7396) of a change, fenced: it fits the version that was looked at only. */
export function patchOf(signer: ClusterSigner, { annotations, distrust = [] }: Change): object {
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
 * Writes a change with the user's rights.
 *
 * @param dryRun - the API server checks everything, rights and admission too, and stores nothing
 * @throws KubeError KUBE_CONFLICT when somebody changed the ClusterSigner since it was looked at
 */
export async function patchClusterSigner(
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
