// SPDX-License-Identifier: Apache-2.0
import { keyOf, type KubeObject } from '../../api/object/object.ts';
import { isDerivedName } from '../../api/signer/signer.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { createReflector, type Reflector } from '../../kube/watch/reflector.ts';
import type { ReadMessage } from '../../kube/watch/watch-message.ts';
import { createWatchSet } from '../../kube/watch/watch-set.ts';
import type { Component } from '../component/component.ts';
import type { RequestKind } from '../component/metrics.ts';
import type { RequestSelector } from '../signers/signer-set.ts';
import { createCacheTransform, type CacheTransform } from './cache-transform.ts';
import { predicateDigest } from './change-predicate.ts';
import type { Intern } from './interner.ts';
import { partsOf, requestKey, type WatchCause } from './request-state.ts';

/** What the cache of pending requests needs. */
export interface PendingRequestsInit<T> {
  readonly component: Component;
  readonly kind: RequestKind;
  readonly resource: Resource;
  /** Requests that still need this component; others are not kept. */
  readonly isPending: (request: T) => boolean;
  /** The retained fields of every pending request, however many and large the requests are. */
  readonly retainedFields: (request: T, intern: Intern) => object;
  /** A list, the watch or our own write showed a request that no longer needs this component. */
  readonly onFinished?: ((request: T) => void) | undefined;
  /**
   * A request appeared, vanished, was listed again, or changed in a part that `change-predicate.ts` compares.
   */
  readonly onKey: (key: string, why: WatchCause) => void;
  /** Reads a request in protobuf, for kinds where that pays. */
  readonly readMessage?: ReadMessage<T> | undefined;
}

/** The pending requests of every served signer name, one watch for each name. */
export interface PendingRequests<T> {
  /** Watches for these signer names, each by its selector, and for no others. */
  serve(selectors: ReadonlyMap<string, RequestSelector>): void;
  /**
   * The pending request with that key; read from the API server if it is not cached whole.
   *
   * @throws KubeError
   */
  load(key: string): Promise<T | undefined>;
  /** The cached part: its identity, and the retained fields. */
  peek(key: string): T | undefined;
  /** Keys of all pending requests of one signer name that are this replica's. */
  keysOf(signerName: string): readonly string[];
  /** All pending requests of all signer names, with their keys. */
  all(): Iterable<readonly [string, T]>;
  /** Whether the last event from the watch was this write of ours. */
  isCurrent(signerName: string, written: T): boolean;
  /** Stores the response to our own write. */
  applyWrite(signerName: string, request: T): void;
  /** The watches that have not listed or fail now; of ClusterSigners only. */
  notReady(): readonly string[];
  stop(): Promise<void>;
}

interface Cache<T extends KubeObject> {
  readonly init: PendingRequestsInit<T>;
  readonly transform: CacheTransform<T>;
  /** For requests that are not cached whole: what the change predicate compares. */
  readonly digests: WeakMap<T, string>;
  selectors: ReadonlyMap<string, RequestSelector>;
  /** True while our own write is stored: its writer decides when to reconcile again. */
  applying: boolean;
}

/** No signer name is watched before the first `serve`. */
export function createPendingRequests<T extends KubeObject>(
  init: PendingRequestsInit<T>,
): PendingRequests<T> {
  const cache: Cache<T> = {
    init,
    transform: createCacheTransform<T>(init.retainedFields),
    digests: new WeakMap(),
    selectors: new Map(),
    applying: false,
  };
  const watches = createWatchSet<T>((signerName) => watch(cache, signerName));

  function peek(key: string): T | undefined {
    const { signerName, storeKey } = partsOf(key);
    return watches.get(signerName)?.get(storeKey);
  }

  return {
    serve: (wanted) => {
      // Another selector is another watch: the objects of the old one are dropped first.
      watches.reconcile(unchanged(cache.selectors, wanted));
      cache.selectors = wanted;
      watches.reconcile(wanted.keys());
    },
    peek,
    load: (key) => {
      const kept = peek(key);
      const isReduced = kept !== undefined && cache.transform.isReduced(kept);
      return isReduced ? readWhole(init, kept) : Promise.resolve(kept);
    },
    keysOf: (signerName) =>
      (watches.get(signerName)?.list() ?? [])
        .filter(({ metadata }) => init.component.shard.owns(metadata.uid))
        .map(({ metadata }) => requestKey(signerName, keyOf(metadata))),
    all: function* () {
      for (const [signerName, each] of watches.entries()) {
        for (const kept of each.list()) yield [requestKey(signerName, keyOf(kept.metadata)), kept];
      }
    },
    isCurrent: (signerName, { metadata }) => {
      const kept = watches.get(signerName)?.get(keyOf(metadata));
      return kept?.metadata.resourceVersion === metadata.resourceVersion;
    },
    applyWrite: (signerName, request) => {
      cache.applying = true;
      try {
        watches.get(signerName)?.applyWrite(request);
      } finally {
        cache.applying = false;
      }
    },
    notReady: () => notListed(init.kind, watches.unread()),
    stop: watches.stop,
  };
}

function watch<T extends KubeObject>(cache: Cache<T>, signerName: string): Reflector<T> {
  const { init, transform } = cache;
  const { fieldSelector = '', namespace } = cache.selectors.get(signerName) ?? {};
  let count = 0;
  return createReflector<T>({
    ...init.component,
    // The server filters: requests of other signers never reach this process.
    path: init.resource.collection(namespace),
    fieldSelector,
    keep: (request) => {
      if (init.isPending(request)) return true;
      init.onFinished?.(request);
      return false;
    },
    readMessage: init.readMessage,
    transform: (request) => {
      const kept = transform.reduce(request);
      if (kept !== request) cache.digests.set(kept, predicateDigest(request));
      return kept;
    },
    onEvent: (key, now, before) => {
      count += Number(now !== undefined) - Number(before !== undefined);
      if (before !== undefined && before !== now) transform.release(before);
      init.component.metrics.pending(init.kind, signerName, count);
      const why = cache.applying ? undefined : causeOf(cache, now, before);
      if (why !== undefined) init.onKey(requestKey(signerName, key), why);
    },
  });
}

/** Why an event causes a reconciliation; undefined: it causes none. */
function causeOf<T extends KubeObject>(
  { digests }: Cache<T>,
  now: T | undefined,
  before: T | undefined,
): WatchCause | undefined {
  if (now === before) return 'again';
  if (now === undefined || before === undefined) return 'changed';
  const digestOf = (kept: T): string => digests.get(kept) ?? predicateDigest(kept);
  return digestOf(now) === digestOf(before) ? undefined : 'changed';
}

async function readWhole<T extends KubeObject>(
  { component, resource, isPending }: PendingRequestsInit<T>,
  { metadata }: T,
): Promise<T | undefined> {
  const path = resource.object(metadata);
  const fresh = await component.client.request<T>({ method: 'GET', path }).catch(ignoreNotFound);
  return fresh?.metadata.uid === metadata.uid && isPending(fresh) ? fresh : undefined;
}

/** The signer names whose selector is the same in both. */
function unchanged(
  before: ReadonlyMap<string, RequestSelector>,
  wanted: ReadonlyMap<string, RequestSelector>,
): readonly string[] {
  const textOf = (selector?: RequestSelector): string => JSON.stringify(selector ?? null);
  return [...wanted.keys()].filter((each) => textOf(before.get(each)) === textOf(wanted.get(each)));
}

function notListed(
  kind: RequestKind,
  watches: readonly (readonly [
    signerName: string,
    watch: Pick<Reflector<KubeObject>, 'synced' | 'failure'>,
  ])[],
): readonly string[] {
  return (
    watches
      // New Signers appear all the time; readiness does not depend on them.
      .filter(([name]) => !isDerivedName(name))
      .map(([name, each]) => `${kind}s of ${name}: ${each.failure ?? 'not listed yet'}`)
  );
}
