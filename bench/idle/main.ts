// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-idle` measures the memory and the CPU time of each component on an idle installation,
 * its CPU time until it is ready, and the calls of the installation; then the same of cert-manager
 * and trust-manager. It measures several builds in turns on one cluster. ARGS:
 * `--bundles old.mjs,dist/countersign.mjs --components approver,signer --replicas 2`,
 * `--peers cert-manager,trust-manager --settle 60 --rounds 3`.
 */
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EVERY_COMPONENT } from '../../test/support/cluster/component-process.ts';
import { BUNDLE, startBenchCluster } from '../cluster/start.ts';
import { count } from '../measure/count.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { medians } from '../measure/ratios.ts';
import { RESULTS } from '../measure/arguments.ts';
import { writeResults } from '../measure/results.ts';
import { printRatios, printRound } from '../measure/table.ts';
import { inTurns } from '../measure/turns.ts';
import {
  measureComponents,
  measurePrograms,
  type IdleComponent,
  type IdleProcess,
  type Installation,
} from './measure-idle.ts';
import { installPeers, PEERS } from './peers.ts';

const { values } = parseArgs({
  options: {
    bundles: { type: 'string', default: BUNDLE },
    components: { type: 'string', default: EVERY_COMPONENT.join(',') },
    replicas: { type: 'string', default: '2' },
    peers: { type: 'string', default: PEERS.join(',') },
    settle: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
    results: { type: 'string', default: RESULTS },
  },
});
const settle = count('settle', values.settle, 1);
const rounds = count('rounds', values.rounds, 1);
const replicas = count('replicas', values.replicas, 1);
const bundles = values.bundles.split(',').map((path) => resolve(path));
const names = EVERY_COMPONENT.filter((name) => values.components.split(',').includes(name));
const SHIPPED = basename(BUNDLE, '.mjs');

endOnSignals();
const bench = await startBenchCluster(console.log);
try {
  const wanted = PEERS.filter((peer) => values.peers.split(',').includes(peer));
  const programs = await installPeers(bench.cluster, wanted);
  const components = new Map<string, IdleComponent[]>();
  const peers = new Map<string, IdleProcess[]>();
  const installations = new Map<string, Installation[]>();
  const measureBuild = async (round: number, bundle: string): Promise<void> => {
    const build = basename(bundle, '.mjs');
    const measured = await measureComponents(bench, { bundle, names, replicas, settle });
    for (const [name, idle] of measured.processes)
      keep(components, { round, key: `${build} ${name}`, value: idle });
    keep(installations, { round, key: build, value: measured.installation });
  };
  const measurePeers = async (round: number): Promise<void> => {
    const measured = await measurePrograms(bench, programs, settle);
    for (const [key, value] of measured.processes) keep(peers, { round, key, value });
    keep(installations, { round, key: wanted.join(' and '), value: measured.installation });
  };
  for (const [round, turn] of inTurns(bundles, rounds).entries()) {
    for (const bundle of turn) await measureBuild(round, bundle);
    if (programs.length > 0) await measurePeers(round);
  }
  const typical = [...components].map(([key, all]) => [key, medians(all)] as const);
  const shipped = typical.filter(([key]) => key.startsWith(`${SHIPPED} `));
  const most = (field: keyof IdleComponent): number =>
    Math.max(...shipped.map(([, idle]) => idle[field]));
  const ratios = {
    own_mib: most('ownMiB'),
    resident_mib: most('residentMiB'),
    ready_cpu_ms: most('readyCpuMs'),
    installation_mib: medians(installations.get(SHIPPED) ?? []).ownMiB,
  };
  printRatios(ratios);
  if (shipped.length > 0) {
    writeResults(values.results, 'idle', {
      ratios,
      figures: {
        settle,
        rounds,
        replicas,
        ...Object.fromEntries(typical),
        ...(peers.size === 0 ? {} : { peers: mediansOf(peers) }),
        installations: mediansOf(installations),
      },
      machine: readMachine(bench.kubernetes),
    });
  }
} finally {
  await bench.stop();
}

/** Keeps what a round measured, and prints it. */
function keep<T extends object>(
  all: Map<string, T[]>,
  { round, key, value }: { readonly round: number; readonly key: string; readonly value: T },
): void {
  all.set(key, [...(all.get(key) ?? []), value]);
  printRound(round + 1, key, value);
}

function mediansOf<T extends object>(all: ReadonlyMap<string, readonly T[]>): object {
  return Object.fromEntries([...all].map(([key, each]) => [key, medians(each)]));
}
