// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../errors.ts';
import type { Client } from '../kube/client/client.ts';
import { KubeError } from '../kube/client/kube-error.ts';
import type { Resource } from '../kube/resource/resource.ts';
import { inParallel } from './in-parallel.ts';

/** The label of every object that the runner creates; its value is the id of the run. */
export const RUN_LABEL = 'conformance.countersign.dev/run';

export interface CreatedReference {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The result of {@link CreatedObjects.deleteAll}. */
export interface Cleanup {
  readonly removed: number;
  /** What is still there, and why. */
  readonly left: readonly string[];
}

/**
 * The objects of one run. Each is recorded before its POST, so that an interrupted run loses none.
 */
export interface CreatedObjects {
  /**
   * Makes an object, labelled with the run.
   *
   * @returns as the API server stored it
   * @throws KubeError
   */
  create<T>(resource: Resource, body: ObjectBody, client?: Client): Promise<T>;
  /** Another client created it for the run, such as the kubelet that requests a certificate for the run's pod. */
  track(resource: Resource, reference: CreatedReference): void;
  /** Deletes all of them, pods first, and lets nothing more be made. Never throws. */
  deleteAll(): Promise<Cleanup>;
}

export interface ObjectBody {
  readonly kind: string;
  readonly metadata: CreatedReference & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

interface Known extends CreatedReference {
  readonly resource: Resource;
}

export function trackCreatedObjects(client: Client, runId: string): CreatedObjects {
  const known = new Map<string, Known>();
  const pending = new Set<Promise<unknown>>();
  let isOver = false;

  function remember(resource: Resource, { name, namespace }: CreatedReference): string {
    const path = resource.object({ name, namespace });
    known.set(path, { resource, name, namespace });
    return path;
  }

  async function remove([path, { resource }]: [string, Known]): Promise<string | undefined> {
    try {
      const query = resource.plural === 'pods' ? { gracePeriodSeconds: 0 } : undefined;
      await client.request({ method: 'DELETE', path, ...(query === undefined ? {} : { query }) });
      return undefined;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      return `${path}: ${messageOf(error)}`;
    }
  }

  return {
    create: async <T>(resource: Resource, body: ObjectBody, as: Client = client): Promise<T> => {
      if (isOver) throw new Error('the run is over: no more objects are created');
      const { metadata, ...rest } = body;
      remember(resource, metadata);
      const labels = { ...metadata.labels, [RUN_LABEL]: runId };
      const creation = as.request<T>({
        method: 'POST',
        path: resource.collection(metadata.namespace),
        body: { apiVersion: resource.apiVersion, ...rest, metadata: { ...metadata, labels } },
      });
      pending.add(creation);
      return creation.finally(() => pending.delete(creation));
    },
    track: remember,
    deleteAll: async () => {
      isOver = true;
      // Deleted before it is stored, an object would stay.
      await Promise.allSettled(pending);
      const all = [...known];
      // A kubelet creates another request for a pod whose request is deleted.
      const pods = all.filter(([, { resource }]) => resource.plural === 'pods');
      const rest = all.filter(([, { resource }]) => resource.plural !== 'pods');
      const left = [...(await inParallel(pods, remove)), ...(await inParallel(rest, remove))];
      const failed = left.filter((each) => each !== undefined);
      return { removed: all.length - failed.length, left: failed };
    },
  };
}
