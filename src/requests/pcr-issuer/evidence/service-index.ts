// SPDX-License-Identifier: Apache-2.0
import { hasSelectedEndpoints, type Service } from '#api/object/service.ts';
import type { Client } from '#kube/client/client.ts';
import { SERVICES } from '#kube/resource/core-v1.ts';
import { listPages } from '#kube/watch/list-pages.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { createWatchSet } from '#kube/watch/watch-set.ts';
import type { Component } from '#component/contract.ts';
import { shareReads } from './shared-reads.ts';

/** Receives changes of Services. */
export interface ServiceListener {
  /** Called when a Service was changed, added or, without `now`, deleted. */
  readonly onChange: (namespace: string, name: string, now: Service | undefined) => void;
  /** Called when all Services are listed for the first time. */
  readonly onListed: () => void;
}

/** The Services of the cluster, watched while a signer needs their names. */
export interface ServiceIndex {
  /** Starts or stops the watch. */
  serve(isWanted: boolean): void;
  /** Reports whether all Services are watched and listed. */
  isListed(): boolean;
  /** Returns the Services of a namespace, or undefined until listed. */
  of(namespace: string): readonly Service[] | undefined;
  /** Returns a Service, or undefined if it is missing or not listed. */
  get(namespace: string, name: string): Service | undefined;
  /** Returns the watch's failure, or undefined if it works or is not needed. */
  failure(): string | undefined;
  stop(): Promise<void>;
}

/** Key of the single watch. */
const ALL = '';

/** Never aborted: a stopped watch may stay unsynced, and its promise is collected with it. */
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
    // A stopped watch emits an event for each object that it drops, although no Service was
    // deleted.
    if (watches.get(ALL) !== undefined) onChange(namespace, name, now);
  }

  function start(): Reflector<Service> {
    const reflector = createReflector<Service>({
      ...component,
      path: SERVICES.collection(),
      transform: reduced,
      onEvent: note,
    });
    // Never rejects, since the signal is never aborted.
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

/**
 * The limit of a page of 500 Services, which take about one megabyte. Users can make each a hundred
 * times as large, and lists of several namespaces may be read at once.
 */
const MAX_SERVICES_PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Creates a function that lists the Services of a namespace as they are stored. Several requests
 * can share a list, which starts after each call.
 *
 * @throws KubeError, also for Services that are too large together
 */
export function createStoredServices(
  client: Client,
): (namespace: string) => Promise<readonly Service[]> {
  const list = shareReads(async (path) => {
    const found: Service[] = [];
    await listPages<Service>({ client, path, maxBytes: MAX_SERVICES_PAGE_BYTES }, (service) => {
      found.push(reduced(service));
    });
    return found;
  });
  return (namespace) => list(SERVICES.collection(namespace));
}

/**
 * Returns some 300 bytes of a Service, which has about 2,000. Leaves out a selector that names no
 * pod, which takes up to ten megabytes.
 */
function reduced({ apiVersion, kind, metadata, spec }: Service): Service {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  const { type, clusterIP, selector = {} } = spec ?? {};
  const isKept = hasSelectedEndpoints({ metadata, spec: spec ?? {} });
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(namespace === undefined ? {} : { namespace }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: {
      ...(type === undefined ? {} : { type }),
      ...(clusterIP === undefined ? {} : { clusterIP }),
      ...(isKept ? { selector } : {}),
    },
  };
}
