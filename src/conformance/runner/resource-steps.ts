// SPDX-License-Identifier: Apache-2.0
/** Makes the calls of upstream's tests of every kind (test/e2e/framework/conformance). */
import type { KubeObject } from '#api/object/object.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { Run } from './run.ts';
import type { Recorder } from './recorder.ts';
import { until } from './run.ts';
import { check, type ApiStep } from './steps.ts';
import type { Patch } from '../snapshot.ts';

const CONTENT_TYPES: Readonly<Record<Patch, string>> = {
  applyPatch: 'application/apply-patch+yaml',
  strategicPatch: 'application/strategic-merge-patch+json',
  mergePatch: 'application/merge-patch+json',
  jsonPatch: 'application/json-patch+json',
};

/** Calls on one existing object. */
export interface ResourceCalls<T extends KubeObject> {
  get(name: string, subresource?: string): Promise<T>;
  put(body: T, subresource?: string): Promise<T>;
  patch(name: string, how: Patch, body: unknown, subresource?: string): Promise<T>;
  list(query: Readonly<Record<string, string>>): Promise<readonly T[]>;
  remove(name: string): Promise<void>;
  removeAll(query: Readonly<Record<string, string>>): Promise<void>;
  /** Returns the HTTP status of a GET. */
  status(name: string): Promise<number>;
}

export function resourceCalls<T extends KubeObject>(
  { client, signal }: Run,
  resource: Resource,
  namespace?: string,
): ResourceCalls<T> {
  const path = (name: string, subresource?: string): string =>
    resource.object({ name, namespace }, subresource);
  const get = (name: string, subresource?: string): Promise<T> =>
    client.request<T>({ method: 'GET', path: path(name, subresource), signal });
  return {
    get,
    put: (body, subresource) =>
      client.request<T>({
        method: 'PUT',
        path: path(body.metadata.name, subresource),
        body,
        signal,
      }),
    patch: (name, how, body, subresource) =>
      client.request<T>({
        method: 'PATCH',
        path: path(name, subresource),
        body,
        contentType: CONTENT_TYPES[how],
        signal,
        ...(how === 'applyPatch'
          ? { query: { fieldManager: 'countersign-conformance', force: true } }
          : {}),
      }),
    list: async (query) => {
      const path = resource.collection(namespace);
      const found = await client.request<{ items?: readonly T[] | null }>({
        method: 'GET',
        path,
        query,
        signal,
      });
      return found.items ?? [];
    },
    remove: async (name) => {
      await client.request({ method: 'DELETE', path: path(name), signal });
    },
    removeAll: async (query) => {
      await client.request({
        method: 'DELETE',
        path: resource.collection(namespace),
        query,
        signal,
      });
    },
    status: async (name) => {
      const answer = await get(name).then(
        () => 200,
        (error: unknown) => (error instanceof KubeError ? error.status : 0),
      );
      return answer;
    },
  };
}

/** Waits until the watch reports it, in any version of any object. Throws after the timeout. */
export async function untilWatched<T extends KubeObject>(
  run: Run,
  recorder: Recorder<T>,
  test: (object: T) => boolean,
): Promise<void> {
  const seen = (): boolean => recorder.objects().some(test);
  check(await until(run, seen, run.timeoutMs), 'the watch did not report it');
}

/** Returns a step for each type of patch. */
export function patchSteps(run: (how: Patch) => Promise<string>): Readonly<Record<Patch, ApiStep>> {
  const step =
    (how: Patch): ApiStep =>
    () =>
      run(how);
  return {
    applyPatch: step('applyPatch'),
    strategicPatch: step('strategicPatch'),
    mergePatch: step('mergePatch'),
    jsonPatch: step('jsonPatch'),
  };
}
