// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../api/object.ts';
import { createReflector } from '../kube/reflector.ts';
import type { Resource } from '../kube/resource.ts';
import { createWatchSet } from '../kube/watch-set.ts';
import type { Component } from './component.ts';
import type { RequestKind } from './request-metrics.ts';

export interface RequestsInit<T> {
  readonly component: Component;
  readonly kind: RequestKind;
  readonly resource: Resource;
  /** Requests that still need this component; others are forgotten. */
  readonly pending: (request: T) => boolean;
  readonly onKey: (key: string) => void;
}

/** The pending requests of every signer name that is served, one watch a name. */
export interface Requests<T> {
  /** Watches these signer names and no others. */
  serve(signerNames: readonly string[]): void;
  get(key: string): T | undefined;
  /** Keys of all pending requests of one signer name. */
  keysOf(signerName: string): readonly string[];
  /** Takes in what a write of ours was answered with. */
  observe(signerName: string, request: T): void;
  notReady(): readonly string[];
  stop(): Promise<void>;
}

const SEPARATOR = ' ';

/** The queue's key of a request: its signer name and its `namespace/name`. */
function requestKey(signerName: string, storeKey: string): string {
  return signerName + SEPARATOR + storeKey;
}

export function createRequests<T extends KubeObject>(init: RequestsInit<T>): Requests<T> {
  const { component, kind } = init;
  const watches = createWatchSet<T>((signerName) => {
    let count = 0;
    return createReflector<T>({
      ...component,
      path: init.resource.collection(),
      // The server filters: requests of other signers never reach this process.
      fieldSelector: `spec.signerName=${signerName}`,
      keep: init.pending,
      onEvent: (key, now, before) => {
        count += Number(now !== undefined) - Number(before !== undefined);
        component.metrics.pending(kind, signerName, count);
        init.onKey(requestKey(signerName, key));
      },
    });
  });
  return {
    serve: watches.reconcile,
    get: (key) => {
      const at = key.indexOf(SEPARATOR);
      return watches.get(key.slice(0, at))?.get(key.slice(at + 1));
    },
    keysOf: (signerName) =>
      (watches.get(signerName)?.list() ?? []).map(({ metadata }) =>
        requestKey(
          signerName,
          metadata.namespace === undefined
            ? metadata.name
            : `${metadata.namespace}/${metadata.name}`,
        ),
      ),
    observe: (signerName, request) => watches.get(signerName)?.observe(request),
    notReady: () =>
      watches
        .entries()
        .filter(([, each]) => !each.synced || each.failure !== undefined)
        .map(([name, each]) => `${kind}s of ${name}: ${each.failure ?? 'not listed yet'}`),
    stop: watches.stop,
  };
}
