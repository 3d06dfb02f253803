// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import type { ContenderProcess } from '../cluster/contender-process.ts';
import { WORKLOAD } from '../cluster/ours.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { REQUESTS, podRequest } from '../requests/backlog.ts';
import { inParallel } from '../requests/in-parallel.ts';
import { POD_ISSUED, watchIssued } from '../requests/watch-issued.ts';

export interface Batch {
  /** Different for each batch that is there at the same time. */
  readonly prefix: string;
  readonly size: number;
  readonly stubs: readonly string[];
}

const CREATIONS_IN_FLIGHT = 32;
const START_MS = 60_000;
const MIN_PER_SECOND = 10;

/** Creates requests of our signer name, and resolves when all of them have certificates. */
export async function issueAll(
  { client }: BenchCluster,
  ours: ContenderProcess,
  { prefix, size, stubs }: Batch,
): Promise<void> {
  const { signerName } = WORKLOAD;
  const path = REQUESTS.collection(NAMESPACE);
  const query = { limit: 1, fieldSelector: `spec.signerName=${signerName}` };
  const list = await client.request<{ metadata: { resourceVersion: string } }>({
    method: 'GET',
    path,
    query,
  });
  const { resourceVersion } = list.metadata;
  const end = new AbortController();
  const { signal } = end;
  try {
    const watch = { client, path, signerName, resourceVersion, size, mark: POD_ISSUED, signal };
    const issued = await watchIssued(watch);
    const patience = START_MS + (size / MIN_PER_SECOND) * 1000;
    const late = delay(patience, undefined, { signal, ref: false }).then(() => {
      throw new Error(`${issued.seen()} of ${size} after ${patience / 1000} s`);
    });
    const indexes = Array.from({ length: size }, (_, index) => index);
    const created = inParallel(indexes, CREATIONS_IN_FLIGHT, async (index) => {
      const stub = stubs[index % stubs.length] ?? '';
      const body = podRequest({ signerName, name: `${prefix}-${index}`, stub });
      await client.request({ method: 'POST', path, body });
    });
    await Promise.race([Promise.all([created, issued.all]), late, ours.failed]);
  } finally {
    end.abort();
  }
}
