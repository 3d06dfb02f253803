// SPDX-License-Identifier: Apache-2.0
/**
 * Finds out whether the pod of an unrenewed certificate still exists. Most certificates without a
 * successor belong to deleted pods.
 */
import type { KubeObject } from '#api/object/object.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { PODS } from '#kube/resource/core-v1.ts';
import type { Component } from '#component/contract.ts';
import type { SeenRequest } from './events/seen-request.ts';

/** Pods to read in one pass at most, because thousands are due at once after a rollout. */
const MAX_LOOKS = 200;
const ENDED = ['Succeeded', 'Failed'];

interface Pod extends KubeObject {
  readonly status?: { readonly phase?: string };
}

/**
 * Returns a function that, for each pass, reports whether the pod of a request exists. The result
 * is true for requests without a pod, and undefined beyond {@link MAX_LOOKS} reads.
 */
export function createPodLook({
  client,
}: Pick<Component, 'client'>): (
  signal: AbortSignal,
) => (request: SeenRequest) => Promise<boolean | undefined> {
  return (signal) => {
    let looks = 0;
    return async ({ metadata: { namespace = '' }, about: { pod } }) => {
      if (typeof pod !== 'object') return true;
      looks += 1;
      if (looks > MAX_LOOKS) return undefined;
      const { name, uid } = pod;
      if (typeof name !== 'string') return false;
      const path = PODS.object({ namespace, name });
      const call = client.request<Pod>({ method: 'GET', path, signal });
      const found = await call.catch(ignoreNotFound);
      if (found === undefined) return false;
      const { metadata, status = {} } = found;
      const isEnding = metadata.deletionTimestamp !== undefined;
      return metadata.uid === uid && !isEnding && !ENDED.includes(status.phase ?? '');
    };
  };
}
