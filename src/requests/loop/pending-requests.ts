// SPDX-License-Identifier: Apache-2.0
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import type { ReadMessage } from '#kube/watch/watch-message.ts';
import { createWatchSet } from '#kube/watch/watch-set.ts';
import type { Component } from '#component/contract.ts';
import type { RequestSelector } from '#component/signers/signer-set.ts';
import { createCacheTransform, type CacheTransform } from './cache-transform.ts';
import { predicateDigest } from './change-predicate.ts';
import type { Intern } from './interner.ts';
import { requestKey, type KeyParts } from './request-key.ts';
import type { WatchCause } from './request-state.ts';
import * as messages from './messages.ts';
import { REQUEST_SERIES, type RequestKind } from './metrics.ts';

/** Dependencies of the cache of pending requests. */
export interface PendingRequestsInit<T> {
  readonly component: Component;
  readonly kind: RequestKind;
  readonly resource: Resource;
  /** Reports whether a request still needs this component. Others are not kept. */
  readonly isPending: (request: T) => boolean;
  /**
   * Returns the fields to retain of every pending request, however many and large the requests are.
   */
  readonly retainedFields: (request: T, intern: Intern) => object;
  /**
   * Called when a list, the watch or our own write showed a request that no longer needs this
   * component.
   */
  readonly onFinished?: ((request: T) => void) | undefined;
  /**
   * Called when a request was added, removed or listed again, or changed in a part that
   * `change-predicate.ts` compares.
   */
  readonly onKey: (key: string, why: WatchCause) => void;
  /** Reads a request in protobuf, for kinds where that pays. */
  readonly readMessage?: ReadMessage<T> | undefined;
}

/** The pending requests of every served signer name, one watch for each name. */
export interface PendingRequests<T> {
  /** Watches for these signer names only, each by its selector. */
  serve(selectors: ReadonlyMap<string, RequestSelector>): void;
  /**
   * Returns the pending request with that key. Reads it from the API server if it is not cached
   * whole.
   *
   * @throws KubeError
   */
  load(key: KeyParts): Promise<T | undefined>;
  /** Returns the cached part: its identity, and the retained fields. */
  peek(key: KeyParts): T | undefined;
  /** Returns the keys of all pending requests of one signer name that this replica owns. */
  keysOf(signerName: string): readonly string[];
  /** Returns all pending requests of all signer names, with their keys. */
  all(): Iterable<readonly [string, T]>;
  /** Stores the response to our own write. */
  applyWrite(signerName: string, request: T): AppliedWrite;
  /** Returns the watches of cluster-scoped signers that have not listed or fail now. */
  notReady(): readonly string[];
  stop(): Promise<void>;
}

/** State of the cache around a write of ours. */
export interface AppliedWrite {
  /** True if the last event from the watch was this write. */
  readonly isSeen: boolean;
  /** True if the request still needs this component. */
  readonly isPending: boolean;
}

interface Cache<T extends KubeObject> {
  readonly init: PendingRequestsInit<T>;
  readonly transform: CacheTransform<T>;
  /** Digests that the change predicate compares, for requests that are not cached whole. */
  readonly digests: WeakMap<T, string>;
  selectors: ReadonlyMap<string, RequestSelector>;
  /** True while our own write is stored. Its writer decides when to reconcile again. */
  applying: boolean;
}

/** Creates the cache, which watches no signer name before the first `serve`. */
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
  // Users of a namespace create signers often, so readiness does not depend on those.
  const isOfCluster = (signerName: string): boolean =>
    cache.selectors.get(signerName)?.isOfNamespace !== true;

  function peek({ signerName, storeKey }: KeyParts): T | undefined {
    return watches.get(signerName)?.get(storeKey);
  }

  return {
    serve: (wanted) => {
      // A changed selector needs a new watch, so drop the objects of the old one first.
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
    applyWrite: (signerName, request) => {
      const { metadata } = request;
      const key = { signerName, storeKey: keyOf(metadata) };
      const isSeen = peek(key)?.metadata.resourceVersion === metadata.resourceVersion;
      cache.applying = true;
      try {
        watches.get(signerName)?.applyWrite(request);
      } finally {
        cache.applying = false;
      }
      return { isSeen, isPending: peek(key) !== undefined };
    },
    notReady: () =>
      watches
        .unread()
        .filter(([name]) => isOfCluster(name))
        .map(([name, each]) => messages.unlistedRequests(init.kind, name, each.failure)),
    stop: watches.stop,
  };
}

function watch<T extends KubeObject>(cache: Cache<T>, signerName: string): Reflector<T> {
  const { init, transform } = cache;
  const { fieldSelector = '', namespace } = cache.selectors.get(signerName) ?? {};
  let count = 0;
  return createReflector<T>({
    ...init.component,
    // The server filters, so requests of other signers never reach this process.
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
      const { requestPending } = init.component.metrics.of(REQUEST_SERIES);
      requestPending.set({ kind: init.kind, signer: signerName }, count);
      const why = cache.applying ? undefined : causeOf(cache, now, before);
      if (why !== undefined) init.onKey(requestKey(signerName, key), why);
    },
  });
}

/** Returns why an event causes a reconciliation, or undefined if it causes none. */
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

/** Returns the signer names whose selector is the same in both. */
function unchanged(
  before: ReadonlyMap<string, RequestSelector>,
  wanted: ReadonlyMap<string, RequestSelector>,
): readonly string[] {
  const textOf = (selector?: RequestSelector): string => JSON.stringify(selector ?? null);
  return [...wanted.keys()].filter((each) => textOf(before.get(each)) === textOf(wanted.get(each)));
}
