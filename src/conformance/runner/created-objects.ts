// SPDX-License-Identifier: Apache-2.0
import { membersOf } from '#base/record.ts';
import { messageOf } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { inParallel } from '#base/in-parallel.ts';

/** The label of every object that the runner creates. Its value is the id of the run. */
export const RUN_LABEL = 'conformance.countersign.dev/run';

export interface CreatedReference {
  readonly name: string;
  readonly namespace?: string | undefined;
  /** The UID from the API server. Absent while it is unknown. */
  readonly uid?: string | undefined;
}

/** The result of {@link CreatedObjects.deleteAll}. */
export interface Cleanup {
  readonly removed: number;
  /** The remaining objects, each with the reason. */
  readonly left: readonly string[];
}

/**
 * The objects of one run. Each is recorded before its POST, so that an interrupted run loses none.
 * Everyone who sees one name of a run can guess the others. An object that another client created
 * under such a name does not belong to the run, and stays.
 */
export interface CreatedObjects {
  /**
   * Creates an object with the label of the run.
   *
   * @returns the object as the API server stored it
   * @throws KubeError
   */
  create<T>(resource: Resource, body: ObjectBody, client?: Client): Promise<T>;
  /**
   * Records an object that another client created for the run, such as the kubelet that requests a
   * certificate for the run's pod.
   */
  track(resource: Resource, reference: CreatedReference): void;
  /** Deletes all of them, pods first, and prevents new ones. Never throws. */
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

interface CreatedObject extends CreatedReference {
  readonly resource: Resource;
}

/** @param deleting - the client that deletes them, which an interruption must not end */
export function trackCreatedObjects(
  client: Client,
  runId: string,
  deleting = client,
): CreatedObjects {
  const known = new Map<string, CreatedObject>();
  const pending = new Set<Promise<unknown>>();
  let isOver = false;

  function remember(resource: Resource, { name, namespace, uid }: CreatedReference): string {
    const path = resource.object({ name, namespace });
    known.set(path, { resource, name, namespace, uid });
    return path;
  }

  return {
    create: async <T>(resource: Resource, body: ObjectBody, as: Client = client): Promise<T> => {
      if (isOver) throw new Error('the run is over: no more objects are created');
      const { metadata, ...rest } = body;
      const path = remember(resource, metadata);
      const labels = { ...metadata.labels, [RUN_LABEL]: runId };
      const creation = as.request<T>({
        method: 'POST',
        path: resource.collection(metadata.namespace),
        body: { apiVersion: resource.apiVersion, ...rest, metadata: { ...metadata, labels } },
      });
      pending.add(creation);
      try {
        const stored = await creation;
        const { uid } = membersOf(membersOf(stored)['metadata']);
        const { name, namespace } = metadata;
        remember(resource, { name, namespace, uid: typeof uid === 'string' ? uid : undefined });
        return stored;
      } catch (error) {
        if (isRejection(error)) known.delete(path);
        throw error;
      } finally {
        pending.delete(creation);
      }
    },
    track: remember,
    deleteAll: async () => {
      isOver = true;
      // An object whose deletion precedes its storage would stay.
      await Promise.allSettled(pending);
      const all = [...known];
      const gone = (each: [string, CreatedObject]): Promise<string | undefined> =>
        remove(deleting, each);
      // A kubelet creates another request for a pod whose request is deleted.
      const pods = all.filter(([, { resource }]) => resource.plural === 'pods');
      const rest = all.filter(([, { resource }]) => resource.plural !== 'pods');
      const left = [...(await inParallel(pods, gone)), ...(await inParallel(rest, gone))];
      const failed = left.filter((each) => each !== undefined);
      return { removed: all.length - failed.length, left: failed };
    },
  };
}

/** Deletes one object. @returns the path and why it remains, or undefined if it is gone */
async function remove(
  client: Client,
  [path, { resource, uid }]: [string, CreatedObject],
): Promise<string | undefined> {
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(uid === undefined ? {} : { preconditions: { uid } }),
    ...(resource.plural === 'pods' ? { gracePeriodSeconds: 0 } : {}),
  };
  try {
    await client.request({ method: 'DELETE', path, body });
    return undefined;
  } catch (error) {
    // 409: another object has the name now, and the run's own object is gone.
    if (error instanceof KubeError && [404, 409].includes(error.status)) return undefined;
    return `${path}: ${messageOf(error)}`;
  }
}

/**
 * Reports whether the API server stored nothing. Without its answer, or with one of a proxy, it may
 * have.
 */
function isRejection(error: unknown): boolean {
  return error instanceof KubeError && error.status >= 400 && error.status < 500;
}
