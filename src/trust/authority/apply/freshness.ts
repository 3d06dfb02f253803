// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import { PREPARE_AT, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import type { Component } from '#component/contract.ts';
import { resourceOf } from '#component/signers/signers.ts';
import { isSameClock } from '#component/server-time.ts';

/**
 * Checks with the API server that a signer is unchanged since the decision. The writes have
 * resourceVersion preconditions. This check covers the spec and the requested rotations, whose
 * watch may lag behind the Secret, and our clock, by which trust ends. Both writes are rare enough
 * for an extra request.
 *
 * Before a write of the status, the whole object must be unchanged. Its Events are recorded before
 * that write. For an outdated copy, the write would be refused, and the same Events recorded again
 * for the present one.
 *
 * @param judgedAt - milliseconds
 * @param next - the object that is written next
 */
export async function isFresh(
  component: Component,
  signer: ClusterSigner,
  judgedAt: number,
  next: 'status' | 'another' = 'another',
): Promise<boolean> {
  const { client } = component;
  const path = resourceOf(signer).object(signer.metadata);
  const fresh = await client.request<KubeObject>({ method: 'GET', path }).catch(ignoreNotFound);
  return (
    fresh !== undefined &&
    identityOf(fresh) === identityOf(signer) &&
    (next !== 'status' || fresh.metadata.resourceVersion === signer.metadata.resourceVersion) &&
    isSameClock(component, judgedAt)
  );
}

function identityOf({ metadata }: KubeObject): string {
  const { uid, generation, deletionTimestamp, annotations = {} } = metadata;
  const requests = [annotations[ROTATE_AT], annotations[PREPARE_AT]];
  return JSON.stringify([uid, generation, deletionTimestamp, ...requests]);
}
