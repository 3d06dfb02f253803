// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/cluster-signer.ts';
import type { KubeObject } from '../../api/object.ts';
import { PREPARE_AT, ROTATE_AT } from '../../api/rotation-annotations.ts';
import { absent } from '../../kube/absent.ts';
import type { Component } from '../../serving/component.ts';
import { CLUSTER_SIGNERS } from '../../serving/signers.ts';
import { serverTime } from '../../serving/server-time.ts';

/** A clock that jumps by more than this between a look and a deed was not to be gone by. */
const CLOCK_JUMP_MS = 60_000;

/**
 * Whether a ClusterSigner is still what was judged, asked of the API server itself. Its Secret's write
 * is fenced by the Secret's version; this is the fence for the spec and the wishes, whose watch may
 * lag, and for our clock. A new CA is rare enough to ask first.
 *
 * @param judgedAt - milliseconds
 */
export async function isCurrent(
  component: Component,
  signer: ClusterSigner,
  judgedAt: number,
): Promise<boolean> {
  const { client } = component;
  const path = CLUSTER_SIGNERS.object({ name: signer.metadata.name });
  const fresh = await client.request<KubeObject>({ method: 'GET', path }).catch(absent);
  return (
    fresh !== undefined &&
    standing(fresh) === standing(signer) &&
    Math.abs(serverTime(component) - judgedAt) < CLOCK_JUMP_MS
  );
}

function standing({ metadata }: KubeObject): string {
  const { uid, generation, deletionTimestamp, annotations = {} } = metadata;
  const wishes = [annotations[ROTATE_AT], annotations[PREPARE_AT]];
  return JSON.stringify([uid, generation, deletionTimestamp, ...wishes]);
}
