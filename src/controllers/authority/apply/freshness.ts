// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import type { KubeObject } from '../../../api/object/object.ts';
import { PREPARE_AT, ROTATE_AT } from '../../../api/signer/rotation-annotations.ts';
import { ignoreNotFound } from '../../../kube/client/kube-error.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { resourceOf } from '../../../runtime/signers/signers.ts';
import { isSameClock } from '../../../runtime/component/server-time.ts';

/**
 * Asks the API server itself whether a signer is unchanged since the decision. The writes have
 * resourceVersion preconditions. This check covers the spec and the requested rotations, whose watch may lag
 * behind the Secret, and our clock, by which trust ends. Both writes are rare enough to ask first.
 *
 * @param judgedAt - milliseconds
 */
export async function isFresh(
  component: Component,
  signer: ClusterSigner,
  judgedAt: number,
): Promise<boolean> {
  const { client } = component;
  const path = resourceOf(signer).object(signer.metadata);
  const fresh = await client.request<KubeObject>({ method: 'GET', path }).catch(ignoreNotFound);
  return (
    fresh !== undefined &&
    identityOf(fresh) === identityOf(signer) &&
    isSameClock(component, judgedAt)
  );
}

function identityOf({ metadata }: KubeObject): string {
  const { uid, generation, deletionTimestamp, annotations = {} } = metadata;
  const requests = [annotations[ROTATE_AT], annotations[PREPARE_AT]];
  return JSON.stringify([uid, generation, deletionTimestamp, ...requests]);
}
