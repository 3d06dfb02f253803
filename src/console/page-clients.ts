// SPDX-License-Identifier: Apache-2.0
import { isRecord, membersOf } from '#base/record.ts';
import type { Client, RequestInit } from '#kube/client/client.ts';
import type { ReadCount } from './pages/overview-model.ts';

/** A client, and the numbers of objects in the lists that it read. */
export interface CountingClient {
  readonly client: Client;
  /** Returns the numbers by kind, in the order in which their lists began. */
  readonly counts: () => readonly ReadCount[];
}

/** Counts the objects of each list while its pages arrive: a large list takes many requests. */
export function countItems(client: Client): CountingClient {
  const counts = new Map<string, ReadCount>();
  const add = (path: string, list: unknown): void => {
    const { items, metadata } = membersOf(list);
    if (!Array.isArray(items)) return;
    const what = path.slice(path.lastIndexOf('/') + 1);
    const count = (counts.get(what)?.count ?? 0) + items.length;
    // The API server reports it for lists without selectors.
    const { remainingItemCount: rest } = membersOf(metadata);
    counts.set(what, { what, count, ...(typeof rest === 'number' ? { total: count + rest } : {}) });
  };
  return {
    counts: () => [...counts.values()],
    client: {
      request: async <T>(init: Parameters<Client['request']>[0]): Promise<T> => {
        const answer = await client.request<T>(init);
        if (init.method === 'GET' && isRecord(answer)) add(init.path, answer);
        return answer;
      },
      stream: (init) => client.stream(init),
      clockOffset: () => client.clockOffset(),
      close: () => client.close(),
    },
  };
}

/** Reviews of the person's own permissions, which store nothing. */
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubject';

/** Returns a client that sends no write. Pages have no other client: only actions write. */
export function readOnly(client: Client): Client {
  return {
    request: <T>(init: RequestInit): Promise<T> => {
      if (init.method === 'GET' || init.path.startsWith(REVIEWS)) return client.request<T>(init);
      return Promise.reject(new Error(`a page sends no ${init.method} to ${init.path}`));
    },
    stream: (init) => client.stream(init),
    clockOffset: () => client.clockOffset(),
    close: () => client.close(),
  };
}
