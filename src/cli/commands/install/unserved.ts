// SPDX-License-Identifier: Apache-2.0
/**
 * Writes the conditions of signers after an uninstallation, when no component is left to write
 * them.
 */
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS } from '#api/acme/names.ts';
import {
  findCondition,
  hasTrueCondition,
  setCondition,
  type Condition,
} from '#api/request/conditions.ts';
import { AWAITING_COMPONENTS, NOT_SERVED, UNINSTALLED } from '#api/serving/report.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound, KubeError } from '#kube/client/kube-error.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { SIGNERS } from '#component/signers/namespaced-signers.ts';

/** Kinds whose condition `Ready` a component sets. */
const KINDS = [CLUSTER_SIGNERS, SIGNERS, ...[ACME_CLUSTER_SIGNERS, ACME_SIGNERS].map(resource)];

/** Reasons of a signer that lacked some of its components before all of them went. */
const PARTLY_SERVED: readonly (string | undefined)[] = [NOT_SERVED, AWAITING_COMPONENTS];

interface Signer extends StoredObject {
  readonly metadata: StoredObject['metadata'] & { readonly generation?: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/**
 * Sets `Served` and `Ready` of each signer to False, and `Degraded` to Unknown where it is True.
 * The reason is that of a signer without its components, so that reinstalled components sign at
 * once. `authority` or `acme` then writes the current state.
 *
 * @returns the number of signers that it marked: those that were Ready, or lacked some components
 * @throws KubeError, unless a signer has changed meanwhile because its component still runs
 */
export async function markUnserved(client: Client, now: Date): Promise<number> {
  let marked = 0;
  for (const kind of KINDS) {
    for (const signer of await servedSigners(client, kind)) {
      if (await mark(client, kind, signer, now)) marked += 1;
    }
  }
  return marked;
}

async function servedSigners(client: Client, kind: Resource): Promise<readonly Signer[]> {
  const found = await listObjects<Signer>(client, kind, {
    keep: ({ status }) => {
      const ready = findCondition(status?.conditions, 'Ready');
      const { reason, message } = ready ?? {};
      return (
        ready?.status === 'True' || (PARTLY_SERVED.includes(reason) && message !== UNINSTALLED)
      );
    },
  }).catch(ignoreNotFound);
  return found ?? [];
}

async function mark(client: Client, kind: Resource, signer: Signer, now: Date): Promise<boolean> {
  const { metadata } = signer;
  const conditions = unservedConditions(signer, now);
  const { resourceVersion } = metadata;
  try {
    await client.request({
      method: 'PATCH',
      path: kind.object(metadata, 'status'),
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion }, status: { conditions } },
    });
    return true;
  } catch (error) {
    if (error instanceof KubeError && (error.status === 404 || error.status === 409)) return false;
    throw error;
  }
}

/** Returns the conditions of a signer without components. */
function unservedConditions({ metadata, status }: Signer, now: Date): readonly Condition[] {
  const about = {
    status: 'False',
    lastTransitionTime: `${now.toISOString().slice(0, 19)}Z`,
    message: UNINSTALLED,
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  } as const;
  const served = { type: 'Served', reason: 'Uninstalled', ...about };
  const before = status?.conditions;
  const withServed = before?.some(({ type }) => type === 'Served') === true;
  const ready = { type: 'Ready', reason: NOT_SERVED, ...about };
  // While components stop, those that still run report that others are away.
  const degraded = { ...ready, type: 'Degraded', status: 'Unknown' } as const;
  return [
    ...(withServed ? [served] : []),
    ...(hasTrueCondition(before, 'Degraded') ? [degraded] : []),
    ready,
  ].reduce<readonly Condition[]>(setCondition, before ?? []);
}
