// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { KubeObject, Secret } from '#api/object/object.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { patched } from '../../../support/kube/json-patch.ts';

/** The three objects that a rotation is made of. */
export interface Objects {
  readonly signer: ClusterSigner;
  readonly secret: Secret;
  readonly bundle: ClusterTrustBundle;
}

export type Kind = keyof Objects;

/** What happened to an object, and when. */
export interface Change {
  readonly kind: Kind;
  readonly at: number;
  readonly object: KubeObject | undefined;
  /** Of ours; not of the users and the accidents of the simulation. */
  readonly isManaged: boolean;
}

/** An API server with three objects and the time: it stores, fences, and tells of each change. */
export class World {
  now: number;
  readonly objects: { [K in Kind]: Objects[K] | undefined } = {
    signer: undefined,
    secret: undefined,
    bundle: undefined,
  };
  /** Events that were told: `AuthorityActive sha256:…`. */
  readonly told = new Set<string>();
  readonly #listeners: ((change: Change) => void)[] = [];
  #version = 0;

  constructor(now: number) {
    this.now = now;
  }

  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  /** As if an administrator did it. */
  put<K extends Kind>(
    kind: K,
    object: Objects[K] | undefined,
    isManaged = false,
  ): Objects[K] | undefined {
    this.#version += 1;
    const stored = object && this.#stored(object);
    this.objects[kind] = stored;
    const change = { kind, at: this.now, object: stored, isManaged };
    for (const listener of this.#listeners) listener(change);
    return stored;
  }

  /** What a component asks, as the API server answers it. */
  answer({ method, path, body }: RequestInit): KubeObject | undefined {
    const kind = kindOf(path);
    const before = this.objects[kind];
    if (method === 'POST') {
      if (before !== undefined) throw refusal(409, path, 'AlreadyExists');
      return this.put(kind, withIdentity(body as never, this.#version), true);
    }
    if (before === undefined) throw refusal(404, path, 'NotFound');
    if (method === 'GET') return before;
    if (method === 'DELETE') return this.put(kind, undefined, true);
    const after = method === 'PATCH' ? patched(before, body as never) : (body as KubeObject);
    if (after.metadata.resourceVersion !== before.metadata.resourceVersion) {
      throw refusal(409, path, 'Conflict');
    }
    // Of a status' PUT only the status is taken.
    const kept = path.endsWith('/status')
      ? { ...before, status: (after as ClusterSigner).status }
      : after;
    return this.put(kind, kept, true);
  }

  #stored<T extends KubeObject>(object: T): T {
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    return structuredClone({ ...object, metadata });
  }
}

function kindOf(path: string): Kind {
  if (path.includes('/clustersigners')) return 'signer';
  return path.includes('/secrets') ? 'secret' : 'bundle';
}

function withIdentity<T extends KubeObject>(object: T, version: number): T {
  return { ...object, metadata: { ...object.metadata, uid: `uid-${version}` } };
}

function refusal(status: number, what: string, reason: string): KubeError {
  return new KubeError({ status, what, body: { reason } });
}
