// SPDX-License-Identifier: Apache-2.0
import type { Body, Client, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { Lease } from '#kube/lease/lease.ts';

/**
 * An API server in memory that has Leases, and what may be wrong with it for each of its clients.
 */
export interface LeaseApi {
  readonly leases: ReadonlyMap<string, Lease>;
  /** `user VERB name`, of every request that was let in, in order. */
  readonly calls: readonly string[];
  client(user: string): Client;
  /** What comes of the requests of a user: an HTTP status, or an answer lost after the write. */
  trouble(user: string, by?: (request: RequestInit) => number | 'lost' | undefined): void;
  /** Ends the user's watches, as a killed or stopped process does; `false` lets it watch again. */
  deafen(user: string, deaf?: boolean): void;
  /** Somebody else writes: `undefined` deletes. */
  set(name: string, spec: Lease['spec'] | undefined): void;
}

interface Watch {
  readonly user: string;
  readonly wanted: (lease: Lease) => boolean;
  readonly send: (line: object) => void;
  readonly end: () => void;
}

export function leaseApi(): LeaseApi {
  const leases = new Map<string, Lease>();
  const calls: string[] = [];
  const troubles = new Map<string, (request: RequestInit) => number | 'lost' | undefined>();
  const deaf = new Set<string>();
  const watches = new Set<Watch>();
  let version = 10;

  function tell(type: string, lease: Lease): void {
    for (const each of watches) if (each.wanted(lease)) each.send({ type, object: lease });
  }

  function put(name: string, body: Pick<Lease, 'spec'> & { metadata?: object }): Lease {
    version += 1;
    const known = leases.get(name);
    const metadata = {
      ...body.metadata,
      name,
      namespace: 'ns',
      uid: known?.metadata.uid ?? `uid-${version}`,
      resourceVersion: String(version),
    };
    const lease: Lease = { metadata, ...(body.spec === undefined ? {} : { spec: body.spec }) };
    leases.set(name, lease);
    tell(known === undefined ? 'ADDED' : 'MODIFIED', lease);
    return lease;
  }

  function remove(name: string): object {
    const known = leases.get(name);
    if (known === undefined) throw refusal(404);
    version += 1;
    leases.delete(name);
    const resourceVersion = String(version);
    tell('DELETED', { ...known, metadata: { ...known.metadata, resourceVersion } });
    return {};
  }

  /**
   * As the registry does: a UID that is not the stored one's is a conflict, also where there is
   * none.
   */
  function fence(name: string, wanted: { uid?: string; resourceVersion?: string }): void {
    const { uid, resourceVersion } = leases.get(name)?.metadata ?? {};
    if (wanted.uid !== undefined && wanted.uid !== uid) throw refusal(409);
    if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
      throw refusal(409);
    }
  }

  function serve({ method, path, body }: RequestInit): unknown {
    const sent = body as Lease & { preconditions?: { uid?: string; resourceVersion?: string } };
    const name = path.split('/')[7] ?? sent.metadata.name;
    if (method === 'POST') {
      if (leases.has(name)) throw refusal(409, 'AlreadyExists');
      return put(name, sent);
    }
    if (!leases.has(name) && method !== 'PUT') throw refusal(404);
    if (method === 'GET') return leases.get(name);
    fence(name, method === 'PUT' ? sent.metadata : (sent.preconditions ?? {}));
    return method === 'PUT' ? put(name, sent) : remove(name);
  }

  function client(user: string): Client {
    return {
      request: async <T>(request: RequestInit) => {
        await Promise.resolve();
        request.signal?.throwIfAborted();
        const trouble = troubles.get(user)?.(request);
        if (typeof trouble === 'number') throw refusal(trouble);
        // A list of one item at most, which is read for its version alone.
        if (request.query?.['limit'] === 1) {
          calls.push(`${user} LIST leases`);
          return { metadata: { resourceVersion: String(version) } } as T;
        }
        const name = request.path.split('/')[7] ?? (request.body as Lease).metadata.name;
        calls.push(`${user} ${request.method} ${name}`);
        const answer = serve(request) as T;
        if (trouble === 'lost') throw refusal(0);
        return answer;
      },
      stream: (request) => {
        const trouble = deaf.has(user) ? 0 : troubles.get(user)?.(request);
        if (typeof trouble === 'number') return Promise.reject(refusal(trouble));
        return Promise.resolve(
          Object.assign(watch(user, request), { contentType: 'application/json' }),
        );
      },
      clockOffset: () => 0,
      close: () => Promise.resolve(),
    };
  }

  function watch(user: string, { query, signal }: RequestInit): Body {
    const name = /metadata\.name=(.*)/.exec(String(query?.['fieldSelector'] ?? ''))?.[1];
    const lines: object[] = [];
    let [wake, ended] = [(): void => undefined, false];
    const self: Watch = {
      user,
      wanted: (lease) => name === undefined || lease.metadata.name === name,
      send: (line) => {
        lines.push(line);
        wake();
      },
      end: () => {
        ended = true;
        wake();
      },
    };
    const stop = (): void => self.end();
    signal?.addEventListener('abort', stop);
    for (const lease of leases.values()) {
      if (self.wanted(lease)) lines.push({ type: 'ADDED', object: lease });
    }
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(version), annotations };
    lines.push({ type: 'BOOKMARK', object: { metadata } });
    watches.add(self);
    const body = (async function* () {
      while (!ended) {
        const line = lines.shift();
        if (line !== undefined) yield Buffer.from(`${JSON.stringify(line)}\n`);
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      watches.delete(self);
    })();
    return { contentType: 'application/json', [Symbol.asyncIterator]: () => body };
  }

  return {
    leases,
    calls,
    client,
    trouble: (user, by) => {
      if (by === undefined) troubles.delete(user);
      else troubles.set(user, by);
    },
    deafen: (user, isDeaf = true) => {
      if (!isDeaf) deaf.delete(user);
      else {
        deaf.add(user);
        for (const each of [...watches]) if (each.user === user) each.end();
      }
    },
    set: (name, spec) => {
      if (spec === undefined) remove(name);
      else put(name, { spec });
    },
  };
}

function refusal(status: number, reason = ''): KubeError {
  return new KubeError({ status, what: 'a request', body: { reason } });
}
