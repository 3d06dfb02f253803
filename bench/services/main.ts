// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-services`: certificates a second of pcr-issuer where leaves have proven names of
 * Services, beside the same requests without: two live reads of the pod a certificate, and one of
 * each Service that the leaf names. In turns on one cluster; with the peak of its memory. ARGS:
 * `--services 1000 --pods 10000 --rounds 3`.
 */
import type { Pod } from '#api/object/pod.ts';
import { renderRbac } from '#install/render.ts';
import { DEMO } from '../../build/demo-installation.ts';
import { apply, applyText } from '../../test/support/cluster/apply.ts';
import { applySigner, example, waitForUsableCa } from '../../test/support/cluster/fixture.ts';
import { startComponents } from '../../test/support/cluster/installation.ts';
import { WORKLOAD, countersign } from '../cluster/ours.ts';
import { BUNDLE, NAMESPACE, startBenchCluster } from '../cluster/start.ts';
import { measureDrain, type Drain } from '../drain/measure-drain.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { memoryOf } from '../measure/process-memory.ts';
import { medianRatio, medians } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { runRounds } from '../measure/rounds.ts';
import { printRatios } from '../measure/table.ts';
import { isDisturbed } from '../measure/undisturbed.ts';
import { createBacklog, newStubs } from '../requests/backlog.ts';
import { inParallel } from '../requests/in-parallel.ts';
import { PODS, SERVICES } from '#kube/resource/core-v1.ts';

const IN_FLIGHT = 32;
/** Of all Services, those of the namespace of the pods; two of them select each pod. */
const NAMESPACES = 20;

/** Fills caches and connections of the API server; not counted. */
const WARM_UP_REQUESTS = 300;
const MIB = 2 ** 20;
const ARMS = ['without', 'with'] as const;
type Arm = (typeof ARMS)[number];

/** The most that pcr-issuer had in memory. */
interface Peak {
  readonly peakMiB: number;
}

/** Nobody runs it, and nobody takes its pods away. */
const NODE = 'node-1';

const sizes = readArguments({
  services: { default: 1000, least: NAMESPACES * 2 },
  pods: { default: 10_000, least: 10 },
  rounds: { default: 3, least: 1 },
});

endOnSignals();
const bench = await startBenchCluster(console.log);
const { cluster, client } = bench;
try {
  await applyText(cluster, renderRbac({ ...DEMO, podServices: true }).get('pcr-issuer.yaml') ?? '');
  await apply(cluster, { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } });
  await createServices();
  console.log(`${sizes.services} Services are there`);
  const uids = await createPods();
  console.log(`${sizes.pods} pods are there`);
  const stubs = newStubs(sizes.pods);
  const issuer = { ...(await countersign(cluster, 'pcr-issuer')), ...WORKLOAD };
  for (const arm of ARMS) await drained(arm, stubs.slice(0, WARM_UP_REQUESTS));
  const turns = ARMS.map((name) => ({ name, measure: () => drained(name, stubs) }));
  const drains = await runRounds(turns, sizes.rounds);
  const rates = (arm: Arm): number[] =>
    (drains.get(arm) ?? []).map((each) => each.certificatesPerSecond);
  const ratios = { services_vs_without: medianRatio(rates('with'), rates('without')) };
  printRatios(ratios);
  writeResults(sizes.results, 'services', {
    ratios,
    figures: {
      services: sizes.services,
      pods: sizes.pods,
      rounds: sizes.rounds,
      disturbed: [...drains.values()].flat().filter(isDisturbed).length,
      ...Object.fromEntries(ARMS.map((arm) => [arm, medians(drains.get(arm) ?? [])])),
    },
    machine: readMachine(bench.kubernetes),
  });

  async function drained(arm: Arm, of: readonly string[]): Promise<Drain & Peak> {
    await serveAs(arm);
    const backlog = await createBacklog(bench, WORKLOAD.signerName, of, uids);
    let peak = NaN;
    try {
      const contender = { ...issuer, name: 'countersign' };
      const last = (pid: number): void => {
        peak = memoryOf(pid)?.peak ?? NaN;
      };
      const drain = await measureDrain(bench, contender, backlog, { last });
      return { ...drain, peakMiB: peak / MIB };
    } finally {
      await backlog.remove();
    }
  }
} finally {
  await bench.stop();
}

/**
 * A signer of another generation is served once authority has looked at it; nobody else runs while
 * it is measured.
 */
async function serveAs(arm: Arm): Promise<void> {
  await applySigner(cluster, signerOf(arm));
  const program = [process.execPath, BUNDLE];
  const authority = await startComponents(cluster, { only: ['authority'], program });
  try {
    await waitForUsableCa(cluster, 'workload');
  } finally {
    await authority.stop();
  }
}

function signerOf(arm: Arm): object {
  const signer = example('workload');
  const { pods } = signer.spec;
  const services = { services: { select: 'All' } };
  return {
    ...signer,
    spec: { ...signer.spec, pods: { ...pods, ...(arm === 'with' && services) } },
  };
}

async function createServices(): Promise<void> {
  const each = Math.floor(sizes.services / NAMESPACES);
  for (let index = 1; index < NAMESPACES; index += 1) {
    const metadata = { name: `services-${index}` };
    await apply(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata });
  }
  const all = Array.from({ length: each * NAMESPACES }, (_, index) => index);
  await inParallel(all, IN_FLIGHT, async (index) => {
    const at = index % NAMESPACES;
    const namespace = at === 0 ? NAMESPACE : `services-${at}`;
    const name = `service-${index}`;
    // The first two of the namespace of the pods select them.
    const app = index < NAMESPACES * 2 ? 'web' : name;
    const spec = { clusterIP: 'None', selector: { app }, ports: [{ port: 443 }] };
    const body = { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec };
    await client.request({ method: 'POST', path: SERVICES.collection(namespace), body });
  });
}

/** @returns their UIDs */
async function createPods(): Promise<readonly string[]> {
  const uids: string[] = [];
  const all = Array.from({ length: sizes.pods }, (_, index) => index);
  await inParallel(all, IN_FLIGHT, async (index) => {
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: NAMESPACE,
        name: `web-workload-${index}`,
        labels: { app: 'web' },
      },
      spec: {
        nodeName: NODE,
        serviceAccountName: 'web',
        automountServiceAccountToken: false,
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'web', image: 'registry.k8s.io/pause:3.10' }],
      },
    };
    const made = await client.request<Pod>({
      method: 'POST',
      path: PODS.collection(NAMESPACE),
      body,
    });
    uids[index] = made.metadata.uid;
  });
  return uids;
}
