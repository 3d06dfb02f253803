// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import { createRendezvousHash } from '#kube/lease/rendezvous-hash.ts';
import type { Program } from '../cluster/contender.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { REQUESTS, podRequest } from '../requests/backlog.ts';
import { inParallel } from '../requests/in-parallel.ts';
import { removeAll } from '../requests/remove-all.ts';
import { POD_ISSUED } from '../requests/watch-issued.ts';
import { nameIn, watchLines } from '../requests/watch-lines.ts';
import { removeLease, startMember, type Member } from './members.ts';

export interface TakeoverInit {
  readonly program: Program;
  readonly signerName: string;
  /** One for each request that is made once a replica was killed. */
  readonly stubs: readonly string[];
}

/** Seconds from the kill −9 to certificates of the killed one's share. */
export interface Takeover {
  readonly first: number;
  readonly last: number;
  /** The longest that a request of the other's own share took meanwhile. */
  readonly others: number;
}

const CREATIONS_IN_FLIGHT = 8;

/** Of two replicas one is killed; then requests come, of which each would have had its share. */
export async function measureTakeover(bench: BenchCluster, init: TakeoverInit): Promise<Takeover> {
  const { client } = bench;
  const { program, signerName, stubs } = init;
  const path = REQUESTS.collection(NAMESPACE);
  const fieldSelector = `spec.signerName=${signerName}`;
  const stays = await startMember(bench, program);
  const end = new AbortController();
  let dies: Member | undefined;
  try {
    dies = await startMember(bench, { ...program, name: `${program.name}-2` });
    const { metadata } = await client.request<{ metadata: { resourceVersion: string } }>({
      method: 'GET',
      path,
      query: { fieldSelector, limit: 1 },
    });
    const issued = new Map<string, number>();
    const watch = { client, path, fieldSelector, signal: end.signal };
    const { resourceVersion } = metadata;
    const { done } = await watchLines({ ...watch, resourceVersion }, (line) => {
      if (line.includes(POD_ISSUED)) issued.set(nameIn(line), performance.now());
      return issued.size === stubs.length;
    });
    const killed = performance.now();
    process.kill(dies.process.pid, 'SIGKILL');
    const ownerOf = createRendezvousHash([stays.lease, dies.lease]);
    const owners = new Map<string, string | undefined>();
    const created = new Map<string, number>();
    await inParallel(stubs, CREATIONS_IN_FLIGHT, async (stub, index) => {
      const body = podRequest({ signerName, name: `takeover-${index}`, stub });
      created.set(body.metadata.name, performance.now());
      const made = await client.request<KubeObject>({ method: 'POST', path, body });
      owners.set(made.metadata.name, ownerOf(made.metadata.uid));
    });
    await Promise.race([done, stays.process.failed]);
    const of = (lease: string, from: (name: string) => number): readonly number[] =>
      [...issued].flatMap(([name, at]) =>
        owners.get(name) === lease ? [(at - from(name)) / 1000] : [],
      );
    const late = of(dies.lease, () => killed);
    if (late.length === 0) throw new Error('no request was of the killed replica’s share');
    return {
      first: Math.min(...late),
      last: Math.max(...late),
      others: Math.max(...of(stays.lease, (name) => created.get(name) ?? NaN)),
    };
  } finally {
    end.abort();
    await stays.process.stop();
    if (dies !== undefined) await removeLease(bench, dies.lease);
    await removeAll(client, path, { fieldSelector });
  }
}
