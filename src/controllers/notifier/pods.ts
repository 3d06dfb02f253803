// SPDX-License-Identifier: Apache-2.0
/** Whether a pod whose certificate was not renewed is still there: most that have no successor belong to pods that are gone. */
import type { KubeObject } from '../../api/object/object.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';
import { PODS } from '../../kube/resource/core-v1.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { SeenRequest } from './events/seen-request.ts';

/** After a rollout thousands are due at once. */
const MOST_LOOKS = 200;
const ENDED = ['Succeeded', 'Failed'];

interface Pod extends KubeObject {
  readonly status?: { readonly phase?: string };
}

/**
 * Returns what asks for the pods of one pass: whether the pod of a request is there. True for requests of no pod; undefined when
 * too many were asked for already.
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
      if (looks > MOST_LOOKS) return undefined;
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
