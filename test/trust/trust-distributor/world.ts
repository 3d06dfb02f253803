// SPDX-License-Identifier: Apache-2.0
/** The component at work on an API server in memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import type { Component } from '#component/contract.ts';
import type { CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { resource } from '#kube/resource/resource.ts';
import { createTrustDistributor } from '#trust/trust-distributor/index.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import { patched } from '../../support/kube/json-patch.ts';
import { memoryApi, type MemoryApi, type Thing } from '../../support/kube/memory-api.ts';

export const BUNDLES = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'clustertrustbundles',
});

/** The component, and the API server that it writes to. */
export interface World {
  readonly api: MemoryApi;
  readonly component: RecordedComponent;
  /** The requests of the component that write. */
  readonly requests: readonly RequestInit[];
  readonly warnings: () => readonly string[];
  readonly notReady: () => readonly string[];
  readonly putSigner: (signer: object) => void;
  readonly putBundle: (bundle: ClusterTrustBundle) => void;
  readonly putNamespace: (name: string, more?: object) => void;
  readonly configMap: (namespace: string, name: string) => Thing | undefined;
  readonly stop: () => Promise<void>;
}

const pathOf = (namespace: string, name: string): string =>
  `/api/v1/namespaces/${namespace}/configmaps/${name}`;

/** @param reject - returns the error of a write, if there is one */
export function startWorld({
  reject = () => undefined,
  caBundles = [],
  api = memoryApi(),
  more = {},
}: {
  readonly reject?: (request: RequestInit) => KubeError | undefined;
  readonly caBundles?: readonly CaBundleTarget[];
  /** The API server of an earlier start. */
  readonly api?: MemoryApi;
  readonly more?: Partial<Component>;
} = {}): World {
  const requests: RequestInit[] = [];
  const client: Client = {
    ...api.client,
    request: async <T>(request: RequestInit) => {
      requests.push(request);
      const error = reject(request);
      if (error !== undefined) throw error;
      await Promise.resolve();
      return answer(api, request) as T;
    },
  };
  const component = componentOn(client, more);
  const controller = createTrustDistributor(component, BUNDLES, caBundles);
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const put = (path: string, object: object): void => void api.put(path, object as Thing);
  return {
    api,
    component,
    requests,
    warnings: () => controller.warnings?.() ?? [],
    notReady: () => controller.notReady(),
    putSigner: (signer) => {
      put('/apis/countersign.dev/v1alpha1/clustersigners/workload', signer);
    },
    putBundle: (bundle) => {
      put(BUNDLES.object({ name: bundle.metadata.name }), bundle);
    },
    putNamespace: (name, metadata = {}) => {
      const labels = { 'countersign.dev/trust': 'enabled' };
      const own = { name, uid: name, resourceVersion: '', creationTimestamp: '', labels };
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { ...own, ...metadata } };
      put(`/api/v1/namespaces/${name}`, object);
    },
    configMap: (namespace, name) => api.get(pathOf(namespace, name)),
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

function answer(api: MemoryApi, { method, path, body, contentType }: RequestInit): unknown {
  const before = api.get(path);
  if (method === 'DELETE') {
    api.remove(path);
    return {};
  }
  if (method !== 'PATCH') throw new TypeError(`${method} is not served here`);
  if (contentType === 'application/apply-patch+yaml') {
    const sent = body as Thing;
    const own = { uid: path, creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '' };
    return api.put(path, { ...sent, metadata: { ...own, ...sent.metadata } });
  }
  if (before === undefined) throw new KubeError({ status: 404, what: path });
  return api.put(path, patched(before, body as Parameters<typeof patched>[1]));
}

export function componentOn(client: Client, more: Partial<Component> = {}): RecordedComponent {
  const clock = Date.now;
  const zeros = (size: number): Uint8Array => new Uint8Array(size);
  const startTimer = (ms: number, action: () => void): (() => void) => {
    const timer = setTimeout(action, ms);
    return () => {
      clearTimeout(timer);
    };
  };
  const counts = { added: () => undefined, depth: () => undefined, waited: () => undefined };
  const loop = (): Pick<Component, 'queue' | 'limiter' | 'concurrency'> => ({
    queue: createDelayingQueue(createQueue(clock, counts, zeros), clock, startTimer),
    limiter: createRateLimiter({ firstMs: 5, maxMs: 100, random: zeros }),
    concurrency: createConcurrencyLimiter({ clock, startTimer, random: zeros }),
  });
  return recordedComponent({
    name: 'trust-distributor',
    client,
    clock,
    delay: async (ms, signal) => {
      await sleep(ms, undefined, { signal });
    },
    random: zeros,
    ...loop(),
    anotherLoop: loop,
    ...more,
  });
}
