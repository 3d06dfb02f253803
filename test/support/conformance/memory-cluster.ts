// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import type { Client, Query, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { Thing } from '../kube/memory-api.ts';
import { watchFeed } from '../kube/watch-feed.ts';

export type { Thing };

/** Called with each change that a user of the client makes. */
export type React = (path: string, object: Thing) => void;

/**
 * An API server in memory, as much of it as the conformance runner asks for: it validates nothing.
 */
export interface MemoryCluster {
  readonly client: Client;
  /** Writes as somebody else than the client's user does; by path. */
  readonly write: (path: string, change: (object: Thing) => Partial<Thing>) => void;
  /** Puts an object there as somebody else does. */
  readonly create: (path: string, object: Thing) => void;
}

export interface MemoryClusterInit {
  /** `group/v1` → plurals, and subresources, that it serves. */
  readonly serves: Readonly<Record<string, readonly string[]>>;
  /** Whether the user may: all that he asks, but this. */
  readonly mayNot: (verb: string, resource: string) => boolean;
  readonly now: () => number;
  readonly react: React;
}

interface Watch {
  readonly collection: string;
  readonly query: Query;
  readonly send: (line: object) => void;
}

interface Review {
  readonly spec: {
    readonly resourceAttributes: { readonly verb: string; readonly resource: string };
  };
}

export function memoryCluster(init: MemoryClusterInit): MemoryCluster {
  const stored = new Map<string, Thing>();
  const watches = new Set<Watch>();
  let version = 1000;

  function store(path: string, object: Thing): Thing {
    version += 1;
    const type = stored.has(path) ? 'MODIFIED' : 'ADDED';
    const now = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    stored.set(path, now);
    for (const { collection, query, send } of watches) {
      if (path.startsWith(`${collection}/`) && selects(query, now)) send({ type, object: now });
    }
    return now;
  }

  function create(collection: string, body: Thing): Thing {
    const path = `${collection}/${encodeURIComponent(body.metadata.name)}`;
    if (stored.has(path)) throw refusal(409);
    const creationTimestamp = new Date(init.now()).toISOString();
    const metadata = { ...body.metadata, uid: randomUUID(), creationTimestamp };
    const object = store(path, { ...body, metadata });
    init.react(path, object);
    return object;
  }

  function update(path: string, body: Thing): Thing {
    const [, object = path, subresource] = /^(.*)\/(status|approval)$/.exec(path) ?? [];
    const known = stored.get(object);
    if (known === undefined) throw refusal(404);
    if (body.metadata.resourceVersion !== known.metadata.resourceVersion) throw refusal(409);
    const now = store(object, subresource === undefined ? body : { ...known, status: body.status });
    init.react(object, now);
    return now;
  }

  function read(path: string, query: Query): unknown {
    const found = stored.get(path);
    if (found !== undefined) return found;
    const groups = [...new Set(Object.keys(init.serves).map((each) => each.split('/')[0] ?? ''))];
    const documents = groups.map((name) => ({ name, versions: [{ version: 'v1' }] }));
    if (path === '/apis') return { groups: documents };
    const document = documents.find(({ name }) => path === `/apis/${name}`);
    if (document !== undefined) return document;
    const [, group, apiVersion] = /^\/apis\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    if (group !== undefined) {
      const names = init.serves[`${group}/${apiVersion ?? ''}`];
      if (names === undefined) throw refusal(404);
      return { resources: names.map((name) => ({ name })) };
    }
    if (isCollection(path)) {
      const items = [...stored]
        .filter(([each, object]) => each.startsWith(`${path}/`) && selects(query, object))
        .map(([, object]) => object);
      const { apiVersion: of = '', kind = '' } = items[0] ?? {};
      return {
        apiVersion: of,
        kind: `${kind}List`,
        metadata: { resourceVersion: `${version}` },
        items,
      };
    }
    throw refusal(404);
  }

  function isCollection(path: string): boolean {
    return Object.values(init.serves).some((names) => names.includes(path.split('/').at(-1) ?? ''));
  }

  function answer({ method, path, body, query = {} }: RequestInit): unknown {
    if (path.endsWith('/selfsubjectaccessreviews')) {
      const { verb, resource } = (body as Review).spec.resourceAttributes;
      return { status: { allowed: !init.mayNot(verb, resource) } };
    }
    if (path.endsWith('/selfsubjectreviews'))
      return { status: { userInfo: { username: 'runner' } } };
    if (method === 'GET') return read(path, query);
    if (method === 'POST') return query['dryRun'] === 'All' ? body : create(path, body as Thing);
    if (method === 'PUT') return update(path, body as Thing);
    if (method === 'DELETE' && stored.delete(path)) return {};
    throw refusal(404);
  }

  return {
    client: {
      request: async <T>(request: RequestInit) => {
        await Promise.resolve();
        return answer(request) as T;
      },
      stream: ({ path, query = {}, signal }) => {
        const { send, chunks } = watchFeed(signal);
        const watch = { collection: path, query, send };
        watches.add(watch);
        signal?.addEventListener('abort', () => watches.delete(watch));
        return Promise.resolve(chunks);
      },
      clockOffset: () => 0,
      close: () => Promise.resolve(),
    },
    write: (path, change) => {
      const known = stored.get(path);
      if (known !== undefined) store(path, { ...known, ...change(known) });
    },
    create: (path, object) => {
      store(path, object);
    },
  };
}

/** `spec.signerName=…` and `label=value`, as the runner's selectors are. */
function selects(
  { fieldSelector = '', labelSelector = '' }: Query,
  { metadata, spec }: Thing,
): boolean {
  const { signerName } = (spec ?? {}) as { readonly signerName?: string };
  const [, wanted] = /^spec\.signerName=(.*)$/.exec(String(fieldSelector)) ?? [];
  if (wanted !== undefined && signerName !== wanted) return false;
  if (labelSelector === '') return true;
  return String(labelSelector)
    .split(',')
    .every((each) => {
      const [key = '', value] = each.split('=');
      return metadata.labels?.[key] === value;
    });
}

function refusal(status: number): KubeError {
  return new KubeError({ status, what: 'a request', body: {} });
}
