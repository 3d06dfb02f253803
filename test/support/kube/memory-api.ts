// SPDX-License-Identifier: Apache-2.0
import type { Client, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { watchFeed } from './watch-feed.ts';
import { readSent } from '../requests/pod-certificate-request.ts';

/** Any object of the API. */
export interface Thing {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly creationTimestamp: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
    readonly finalizers?: readonly string[];
  };
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

export interface Write {
  readonly path: string;
  readonly object: Thing;
}

/** An API server in memory: objects by path, fenced writes, and watches with field selectors. */
export interface MemoryApi {
  readonly client: Client;
  /** Puts an object at its path as its user would; a new spec is a new generation. */
  readonly put: (path: string, object: Thing) => Thing;
  readonly get: (path: string) => Thing | undefined;
  readonly remove: (path: string) => void;
  /** Status writes by users of the client, in order. */
  readonly writes: readonly Write[];
  /** Every path that was read by GET. */
  readonly reads: readonly string[];
  /** Answers the next PUTs with these statuses instead of storing. */
  readonly refuse: (...statuses: readonly number[]) => void;
}

interface Watch {
  readonly collection: string;
  readonly selector: string;
  readonly send: (line: object) => void;
}

export function memoryApi(): MemoryApi {
  const stored = new Map<string, Thing>();
  const watches = new Set<Watch>();
  const [writes, reads, refusals]: [Write[], string[], number[]] = [[], [], []];
  let version = 100;

  function tell(type: string, path: string, object: Thing): void {
    for (const watch of watches) if (sees(watch, path, object)) watch.send({ type, object });
  }

  function store(path: string, object: Thing): Thing {
    const before = stored.get(path);
    version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(version) };
    const now = { ...object, metadata };
    stored.set(path, now);
    tell(before === undefined ? 'ADDED' : 'MODIFIED', path, now);
    return now;
  }

  function put(path: string, object: Thing): Thing {
    const before = stored.get(path);
    const same = JSON.stringify(before?.spec) === JSON.stringify(object.spec);
    const generation = (before?.metadata.generation ?? 0) + Number(!same || before === undefined);
    return store(path, { ...object, metadata: { ...object.metadata, generation } });
  }

  function answer({ method, path, body }: RequestInit): unknown {
    if (method === 'POST') return {};
    const at = path.replace(/\/(?:status|approval)$/, '');
    const known = stored.get(at);
    if (method === 'GET') reads.push(path);
    if (known === undefined) throw refusal(404);
    if (method === 'GET') return known;
    const status = refusals.shift();
    if (status !== undefined) throw refusal(status);
    // PodCertificateRequests are written in protobuf, and their status alone.
    const sent: Thing = body instanceof Uint8Array ? readSent(body) : (body as Thing);
    if (sent.metadata.resourceVersion !== known.metadata.resourceVersion) throw refusal(409);
    const object = store(at, { ...known, metadata: writtenBy(sent, known), status: sent.status });
    writes.push({ path, object });
    return object;
  }

  const client: Client = {
    request: async <T>(request: RequestInit) => {
      await Promise.resolve();
      return answer(request) as T;
    },
    stream: ({ path, query, signal }) => {
      const feed = watchFeed(signal);
      const asked = query?.['fieldSelector'];
      const selector = typeof asked === 'string' ? asked : '';
      const watch = { collection: path, selector, send: feed.send };
      watches.add(watch);
      signal?.addEventListener('abort', () => watches.delete(watch));
      for (const [at, object] of stored)
        if (sees(watch, at, object)) feed.send({ type: 'ADDED', object });
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      feed.send({
        type: 'BOOKMARK',
        object: { metadata: { resourceVersion: String(version), annotations } },
      });
      return Promise.resolve(feed.chunks);
    },
    clockOffset: () => 0,
    close: () => Promise.resolve(),
  };

  return {
    client,
    put,
    get: (path) => stored.get(path),
    remove: (path) => {
      const object = stored.get(path);
      if (object === undefined) return;
      stored.delete(path);
      version += 1;
      const metadata = { ...object.metadata, resourceVersion: String(version) };
      tell('DELETED', path, { ...object, metadata });
    },
    writes,
    reads,
    refuse: (...statuses) => {
      refusals.push(...statuses);
    },
  };
}

/**
 * The metadata after a write of a subresource. For CertificateSigningRequests it is that of the
 * body, besides what apiserver, registry/rest/update.go takes from the stored object.
 */
function writtenBy(sent: Thing, known: Thing): Thing['metadata'] {
  if (known.kind !== 'CertificateSigningRequest') return known.metadata;
  const { uid, creationTimestamp, generation } = known.metadata;
  const kept = generation === undefined ? {} : { generation };
  return { ...sent.metadata, uid, creationTimestamp, ...kept };
}

function sees(watch: Watch, path: string, object: Thing): boolean {
  const collection = path.replace(/\/[^/]+$/, '');
  const ofAll = collection.replace(/\/namespaces\/[^/]+/, '');
  if (![collection, ofAll].includes(watch.collection)) return false;
  return watch.selector === '' || watch.selector.split(',').every((term) => holds(object, term));
}

/** A term of a field selector, as `spec.issuerRef.name=one`. */
function holds(object: Thing, term: string): boolean {
  const [path = '', wanted] = term.split('=');
  const found = path
    .split('.')
    .reduce<unknown>(
      (at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name],
      object,
    );
  return found === wanted;
}

function refusal(status: number): KubeError {
  return new KubeError({ status, what: 'a request', body: {} });
}
