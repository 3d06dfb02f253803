// SPDX-License-Identifier: Apache-2.0
import { keyOf, type KubeObject } from '../../api/object/object.ts';
import { isDerivedName } from '../../api/signer/signer.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { ReadMessage } from '../../kube/watch/watch-message.ts';
import { createWatchSet } from '../../kube/watch/watch-set.ts';
import type { Component } from '../component/component.ts';
import { createCacheTransform } from './cache-transform.ts';
import type { RequestKind } from '../component/metrics.ts';
import type { Intern } from './interner.ts';
import { predicateDigest } from './change-predicate.ts';
import type { RequestSelector } from '../signers/signer-set.ts';

export interface PendingRequestsInit<T> {
  readonly component: Component;
  readonly kind: RequestKind;
  readonly resource: Resource;
  /** Requests that still need this component; others are forgotten. */
  readonly isPending: (request: T) => boolean;
  /** What stays in memory of every pending request, however many and large they are. */
  readonly retainedFields: (request: T, shared: Intern) => object;
  /** A request that needs this component no longer was heard of: in a list, or as written. */
  readonly onFinished?: ((request: T) => void) | undefined;
  /** A request appeared, vanished or changed in what {@link triggerText} has; or it is told anew. */
  readonly onKey: (key: string, told: 'changed' | 'again') => void;
  /** Reads a request in protobuf, where that is worth it. */
  readonly readMessage?: ReadMessage<T> | undefined;
}

/** The pending requests of every signer name that is served, one watch a name. */
export interface PendingRequests<T> {
  /** Watches for these signer names, each by its selection, and for no others. */
  serve(selections: ReadonlyMap<string, RequestSelector>): void;
  /**
   * The pending request of that key; read from the API server where it was not kept whole.
   *
   * @throws KubeError
   */
  load(key: string): Promise<T | undefined>;
  /** As much of it as is kept: who it is, and what `stays`. */
  peek(key: string): T | undefined;
  /** Keys of all pending requests of one signer name that are this replica's. */
  keysOf(signerName: string): readonly string[];
  /** All pending requests of all signer names, with their keys. */
  all(): Iterable<readonly [string, T]>;
  /** Whether the watch has told of this very write of ours, and of nothing since. */
  isCurrent(signerName: string, written: T): boolean;
  /** Takes in what a write of ours was answered with. */
  applyWrite(signerName: string, request: T): void;
  notReady(): readonly string[];
  stop(): Promise<void>;
}

const SEPARATOR = ' ';

/** The queue's key of a request: its signer name and its `namespace/name`. */
function requestKey(signerName: string, storeKey: string): string {
  return signerName + SEPARATOR + storeKey;
}

export function createPendingRequests<T extends KubeObject>(
  init: PendingRequestsInit<T>,
): PendingRequests<T> {
  const { component, kind } = init;
  const leaner = createCacheTransform<T>(init.retainedFields);
  let selections: ReadonlyMap<string, RequestSelector> = new Map();
  /** Of requests that are not kept whole. */
  const digests = new WeakMap<T, string>();
  /** What is heard now is a write of our own: whoever wrote it knows when to look again. */
  let own = false;
  const watches = createWatchSet<T>((signerName) => {
    let count = 0;
    const { fieldSelector = '', namespace } = selections.get(signerName) ?? {};
    return createReflector<T>({
      ...component,
      // The server filters: requests of other signers never reach this process.
      path: init.resource.collection(namespace),
      fieldSelector,
      keep,
      readMessage: init.readMessage,
      transform: lean,
      onEvent: (key, now, before) => {
        count += Number(now !== undefined) - Number(before !== undefined);
        if (before !== undefined && before !== now) leaner.release(before);
        component.metrics.pending(kind, signerName, count);
        const told = own ? undefined : whyTold(now, before);
        if (told !== undefined) init.onKey(requestKey(signerName, key), told);
      },
    });
  });

  function lean(request: T): T {
    const kept = leaner.reduce(request);
    if (kept !== request) digests.set(kept, predicateDigest(request));
    return kept;
  }

  function digestOf(kept: T): string {
    return digests.get(kept) ?? predicateDigest(kept);
  }

  function whyTold(now: T | undefined, before: T | undefined): 'changed' | 'again' | undefined {
    if (now === before) return 'again';
    if (now === undefined || before === undefined) return 'changed';
    return digestOf(now) === digestOf(before) ? undefined : 'changed';
  }

  function keep(request: T): boolean {
    if (init.isPending(request)) return true;
    init.onFinished?.(request);
    return false;
  }

  function peek(key: string): T | undefined {
    const at = key.indexOf(SEPARATOR);
    return watches.get(key.slice(0, at))?.get(key.slice(at + 1));
  }

  async function whole(kept: T): Promise<T | undefined> {
    const path = init.resource.object(kept.metadata);
    const fresh = await component.client.request<T>({ method: 'GET', path }).catch(ignoreNotFound);
    return fresh?.metadata.uid === kept.metadata.uid && init.isPending(fresh) ? fresh : undefined;
  }

  return {
    serve: (wanted) => {
      // Another selector is another watch: what the old one held is gone first.
      const textOf = (selection?: RequestSelector): string => JSON.stringify(selection ?? null);
      const same = [...wanted.keys()].filter(
        (each) => textOf(selections.get(each)) === textOf(wanted.get(each)),
      );
      watches.reconcile(same);
      selections = wanted;
      watches.reconcile(wanted.keys());
    },
    peek,
    load: (key) => {
      const kept = peek(key);
      return kept !== undefined && leaner.isReduced(kept) ? whole(kept) : Promise.resolve(kept);
    },
    keysOf: (signerName) =>
      (watches.get(signerName)?.list() ?? [])
        .filter(({ metadata }) => component.shard.owns(metadata.uid))
        .map(({ metadata }) => requestKey(signerName, keyOf(metadata))),
    all: function* () {
      for (const [signerName, each] of watches.entries()) {
        for (const kept of each.list()) yield [requestKey(signerName, keyOf(kept.metadata)), kept];
      }
    },
    isCurrent: (signerName, written) => {
      const kept = watches.get(signerName)?.get(keyOf(written.metadata));
      return kept?.metadata.resourceVersion === written.metadata.resourceVersion;
    },
    applyWrite: (signerName, request) => {
      own = true;
      try {
        watches.get(signerName)?.applyWrite(request);
      } finally {
        own = false;
      }
    },
    notReady: () =>
      watches
        .entries()
        // Of Signers there are always new ones, and readiness is not theirs to lower.
        .filter(([name]) => !isDerivedName(name))
        .filter(([, each]) => !each.synced || each.failure !== undefined)
        .map(([name, each]) => `${kind}s of ${name}: ${each.failure ?? 'not listed yet'}`),
    stop: watches.stop,
  };
}
