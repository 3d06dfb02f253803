// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-injection`: what the policies of injection cost the API server, in CPU time a pod:
 * without them, with them for a pod that does not ask, for one that asks, and for the same pod
 * written by hand. Pods are made as a dry run, which is admitted like any other and not stored.
 * ARGS: `--pods 1000 --rounds 5`.
 */
import { mutation } from '#install/admission/injection/mutation.ts';
import { profileOf } from '#install/admission/injection/profiles.ts';
import { refusals } from '#install/admission/injection/refusals.ts';
import { openCluster } from '../../test/cluster/cluster.ts';
import { exactRelease } from '../../test/cluster/releases.ts';
import { until } from '../../test/cluster/until.ts';
import { apply } from '../../test/support/cluster/apply.ts';
import { administratorOf } from '../cluster/administrator.ts';
import { CLUSTER } from '../cluster/start.ts';
import { readArguments } from '../measure/arguments.ts';
import { cpuTimeOf } from '../measure/cpu-time.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { median } from '../measure/median.ts';
import { medianRatio, rounded } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { printRatios, printRound } from '../measure/table.ts';
import { inTurns } from '../measure/turns.ts';

const sizes = readArguments({
  pods: { default: 1_000, least: 10 },
  rounds: { default: 5, least: 1 },
});

const INJECT = 'countersign.dev/inject';
const PROFILES = [profileOf({ name: 'workload', signerName: 'example.com/workload' })];
const AT_ONCE = 4;

endOnSignals();
const cluster = await openCluster({ ...CLUSTER, log: console.log });
const client = await administratorOf(cluster);
try {
  for (const [name, labels] of [
    ['bench-out', {}],
    ['bench-in', { [INJECT]: 'enabled' }],
  ] as const) {
    await apply(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  }
  await apply(cluster, ...mutation(PROFILES), ...refusals(PROFILES));
  const injected = await until('pods are injected', 60_000, async () => {
    const { spec } = await create('bench-in', { [INJECT]: 'workload' });
    return spec.volumes?.some(({ name }) => name === 'countersign-workload') === true
      ? spec
      : undefined;
  });
  const arms = {
    'not opted in': () => create('bench-out', {}),
    'not asking': () => create('bench-in', {}),
    asking: () => create('bench-in', { [INJECT]: 'workload' }),
    'by hand': () => create('bench-out', {}, injected),
  };
  const names = Object.keys(arms) as (keyof typeof arms)[];
  const spent = new Map<string, number[]>(names.map((name) => [name, []]));
  for (const [round, turn] of inTurns(names, sizes.rounds).entries()) {
    for (const name of turn) {
      const apiServerCpuPerPod = await measured(arms[name]);
      spent.get(name)?.push(apiServerCpuPerPod);
      printRound(round + 1, name, { apiServerCpuPerPod });
    }
  }
  const of = (name: keyof typeof arms): number[] => spent.get(name) ?? [];
  const ratios = {
    asking_vs_by_hand: medianRatio(of('asking'), of('by hand')),
    not_asking_vs_not_opted_in: medianRatio(of('not asking'), of('not opted in')),
  };
  printRatios(ratios);
  const medianOf = (name: keyof typeof arms): object => ({
    apiServerCpuPerPod: rounded(median(of(name))),
  });
  const figures = Object.fromEntries(names.map((name) => [name, medianOf(name)] as const));
  writeResults(sizes.results, 'injection', {
    ratios,
    figures: { pods: sizes.pods, rounds: sizes.rounds, ...figures },
    machine: readMachine(exactRelease(cluster.version)),
  });
} finally {
  await client.close();
  await cluster.stop();
}

interface Spec {
  readonly volumes?: readonly { readonly name: string }[];
}

/** @param spec - default: a pod of two containers and an init container */
function create(
  namespace: string,
  annotations: Readonly<Record<string, string>>,
  spec: object = {
    automountServiceAccountToken: false,
    initContainers: [{ name: 'migrate', image: 'x' }],
    containers: [
      { name: 'app', image: 'x', env: [{ name: 'A', value: '1' }] },
      { name: 'proxy', image: 'x' },
    ],
  },
): Promise<{ readonly spec: Spec }> {
  return client.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bench', namespace, annotations },
      spec,
    },
  });
}

/** Microseconds of the API server's CPU time a pod. */
async function measured(make: () => Promise<unknown>): Promise<number> {
  const pid = cluster.apiServer.pid ?? 0;
  const before = cpuTimeOf(pid) ?? 0;
  let left = sizes.pods;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await make();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return ((cpuTimeOf(pid) ?? 0) - before) / sizes.pods;
}
