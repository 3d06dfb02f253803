// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import type { KubeObject } from '#api/object/object.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { REQUESTS, podRequest } from '../requests/backlog.ts';
import { POD_ISSUED } from '../requests/watch-issued.ts';
import { nameIn, watchLines } from '../requests/watch-lines.ts';

/** Asks for certificates one after the other. */
export interface Asker {
  /** Milliseconds from before a POST to when an open watch sees the certificate. */
  ask(stub: string): Promise<number>;
  close(): void;
}

/** Opens one watch and keeps it: whoever asks after a pause is not to be the slow one. */
export async function openAsker({ client }: BenchCluster, signerName: string): Promise<Asker> {
  const path = REQUESTS.collection(NAMESPACE);
  const fieldSelector = `spec.signerName=${signerName}`;
  const list = await client.request<{ metadata: { resourceVersion: string } }>({
    method: 'GET',
    path,
    query: { fieldSelector, limit: 1 },
  });
  const { resourceVersion } = list.metadata;
  const end = new AbortController();
  const waiting = new Map<string, () => void>();
  const watch = { client, path, fieldSelector, resourceVersion, signal: end.signal };
  const { done } = await watchLines(watch, (line) => {
    if (line.includes(POD_ISSUED)) waiting.get(nameIn(line))?.();
    return false;
  });
  return {
    ask: async (stub) => {
      const name = `one-${randomUUID()}`;
      const seen = new Promise<number>((resolve) => {
        waiting.set(name, () => {
          resolve(performance.now());
        });
      });
      const body = podRequest({ signerName, name, stub });
      const from = performance.now();
      await client.request<KubeObject>({ method: 'POST', path, body });
      const at = await Promise.race([seen, done]);
      waiting.delete(name);
      await client.request({
        method: 'DELETE',
        path: REQUESTS.object({ namespace: NAMESPACE, name }),
      });
      if (at === undefined) throw new Error('the watch ended');
      return at - from;
    },
    close: () => {
      end.abort();
    },
  };
}
