// SPDX-License-Identifier: Apache-2.0
import type { Service } from '../../../api/object/service.ts';
import { SERVICES } from '../../../kube/resource/core-v1.ts';
import { createReflector, type Reflector } from '../../../kube/watch/reflector.ts';
import { createWatchSet } from '../../../kube/watch/watch-set.ts';
import type { Component } from '../../../runtime/component/component.ts';

/** Who is told of Services. */
export interface ServiceListener {
  /** A Service changed, appeared or, without `now`, went. */
  readonly onChange: (namespace: string, name: string, now: Service | undefined) => void;
  /** All are listed for the first time. */
  readonly onListed: () => void;
}

/** The Services of the cluster, watched while a signer asks for their names. */
export interface ServiceIndex {
  /** Watches from now on, or no longer. */
  serve(isWanted: boolean): void;
  /** Whether all are known: they are watched, and were listed. */
  isListed(): boolean;
  /** Those of a namespace; undefined: they are not listed yet. */
  of(namespace: string): readonly Service[] | undefined;
  /** One of them; undefined also where they are not listed. */
  get(namespace: string, name: string): Service | undefined;
  /** Why the watch does not work; undefined: it does, or nobody asked for it. */
  failure(): string | undefined;
  stop(): Promise<void>;
}

/** The one key of the set of watches. */
const ALL = '';

/** A watch that is ended may stay unsynced for ever; its promise goes with it. */
const NEVER = new AbortController().signal;

export function createServiceIndex(
  component: Component,
  { onChange, onListed }: ServiceListener,
): ServiceIndex {
  const namespaces = new Map<string, Map<string, Service>>();

  function note(key: string, now: Service | undefined): void {
    const [namespace = '', name = ''] = key.split('/');
    const inside = namespaces.get(namespace) ?? new Map<string, Service>();
    if (now === undefined) inside.delete(name);
    else inside.set(name, now);
    if (inside.size === 0) namespaces.delete(namespace);
    else namespaces.set(namespace, inside);
    // A watch that is ended tells of each object that it drops: no Service went.
    if (watches.get(ALL) !== undefined) onChange(namespace, name, now);
  }

  function start(): Reflector<Service> {
    const reflector = createReflector<Service>({
      ...component,
      path: SERVICES.collection(),
      transform: reduced,
      onEvent: note,
    });
    // Never rejects without a signal that ends.
    void reflector.whenSynced(NEVER).then(onListed);
    return reflector;
  }

  const watches = createWatchSet<Service>(start);
  const isListed = (): boolean => watches.get(ALL)?.synced === true;
  return {
    isListed,
    serve: (isWanted) => {
      watches.reconcile(isWanted ? [ALL] : []);
    },
    of: (namespace) => (isListed() ? [...(namespaces.get(namespace)?.values() ?? [])] : undefined),
    get: (namespace, name) => namespaces.get(namespace)?.get(name),
    failure: () => {
      const found = watches.get(ALL);
      if (found === undefined) return undefined;
      return found.failure ?? (found.synced ? undefined : 'not listed yet');
    },
    stop: watches.stop,
  };
}

/** Some 300 bytes of a Service, which has two thousand. */
function reduced({ apiVersion, kind, metadata, spec }: Service): Service {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  const { type, clusterIP, selector } = spec ?? {};
  return {
    ...{ apiVersion, kind },
    metadata: {
      ...{ name, uid, resourceVersion, creationTimestamp },
      ...(namespace === undefined ? {} : { namespace }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: {
      ...(type === undefined ? {} : { type }),
      ...(clusterIP === undefined ? {} : { clusterIP }),
      ...(selector === undefined ? {} : { selector }),
    },
  };
}
