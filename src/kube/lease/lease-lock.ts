// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '#base/ports.ts';
import type { Client } from '../client/client.ts';
import { ignoreNotFound } from '../client/kube-error.ts';
import { withoutManagedFields } from '../resource/object.ts';
import {
  LEASES,
  heldSpec,
  releasedSpec,
  type Lease,
  type LeaseSpec,
  type LeaseTimes,
} from './lease.ts';

export interface LeaseLockInit {
  readonly client: Client;
  /** The local clock. `renewTime` and `acquireTime` show it to people. */
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Annotations that the holder writes with each renewal. The release removes them. */
  readonly annotations?: () => Readonly<Record<string, string>>;
  /** `spec.holderIdentity`. */
  readonly identity: string;
  readonly times: LeaseTimes;
  /** The release of the Lease: delete it if it belongs to one process, or empty its holder. */
  readonly onRelease: 'delete' | 'release';
}

/**
 * The requests about one Lease, as in client-go's `resourcelock.LeaseLock`. All throw KubeError.
 */
export interface LeaseLock {
  /** @returns the Lease, or undefined if there is none */
  read(signal: AbortSignal): Promise<Lease | undefined>;
  /** Acquires or renews the Lease: creates it, or updates it `from` the state that was seen. */
  hold(from: Lease | undefined, signal: AbortSignal): Promise<Lease>;
  /** Releases the Lease in the state that was seen. */
  release(lease: Lease, signal: AbortSignal): Promise<void>;
}

const KIND = { apiVersion: LEASES.apiVersion, kind: 'Lease' } as const;

export function createLeaseLock(init: LeaseLockInit): LeaseLock {
  const { client, clock, namespace, name, labels, identity, times } = init;

  /**
   * The UID is a precondition, too. A PUT can create a Lease, and a deleted one must stay deleted.
   */
  function put(
    from: Lease,
    spec: LeaseSpec,
    said: Readonly<Record<string, string | undefined>>,
    signal: AbortSignal,
  ): Promise<Lease> {
    const { metadata } = withoutManagedFields(from);
    const own = {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...said },
    };
    const body = { ...KIND, metadata: own, spec };
    return client.request({ method: 'PUT', path: LEASES.object(metadata), body, signal });
  }

  return {
    read: (signal) =>
      client
        .request<Lease>({ method: 'GET', path: LEASES.object({ namespace, name }), signal })
        .catch(ignoreNotFound),
    hold: (from, signal) => {
      const { durationSeconds } = times;
      const spec = heldSpec(from?.spec, { identity, durationSeconds }, clock());
      const annotations = init.annotations?.() ?? {};
      if (from !== undefined) return put(from, spec, annotations, signal);
      const body = { ...KIND, metadata: { namespace, name, labels, annotations }, spec };
      return client.request({ method: 'POST', path: LEASES.collection(namespace), body, signal });
    },
    release: async (lease, signal) => {
      if (init.onRelease === 'delete') await deleteLease(client, lease, signal);
      else {
        const none = Object.keys(init.annotations?.() ?? {}).map(
          (key) => [key, undefined] as const,
        );
        const spec = releasedSpec(lease.spec ?? {}, clock());
        await put(lease, spec, Object.fromEntries(none), signal);
      }
    },
  };
}

/**
 * Deletes a Lease in the state that was seen. A holder that has renewed it keeps it.
 *
 * @throws KubeError with status 409 if the Lease has changed
 */
export async function deleteLease(
  client: Client,
  { metadata }: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { uid, resourceVersion } = metadata;
  const body = { preconditions: { uid, resourceVersion } };
  await client.request({ method: 'DELETE', path: LEASES.object(metadata), body, signal });
}
