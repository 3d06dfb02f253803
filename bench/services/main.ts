// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-services`: certificates a second of pcr-issuer where leaves have proven names of Services, beside the same
 * requests without: two live reads of the pod a certificate, and one of each Service that the leaf names. In turns on one
 * cluster; with the peak of its memory. ARGS: `--services 1000 --pods 10000 --rounds 3`.
 */
import { readFileSync } from 'node:fs';
import type { Pod } from '../../src/api/object/pod.ts';
import { renderRbac } from '../../src/manifests/render.ts';
import { DEMO } from '../../build/demo-installation.ts';
import { apply, applyText } from '../../test/support/cluster/apply.ts';
import { applySigner, example, waitForUsableCa } from '../../test/support/cluster/fixture.ts';
import { startComponents } from '../../test/support/cluster/installation.ts';
import { WORKLOAD, countersign } from '../cluster/ours.ts';
import { BUNDLE, NAMESPACE, startBenchCluster } from '../cluster/start.ts';
import { measureDrain } from '../drain/measure-drain.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { median } from '../measure/median.ts';
import { inTurns } from '../measure/turns.ts';
import { leastDisturbed } from '../measure/undisturbed.ts';
import { createBacklog, newStubs } from '../requests/backlog.ts';
import { inParallel } from '../requests/in-parallel.ts';
import { PODS, SERVICES } from '../../src/kube/resource/core-v1.ts';

/** The goal: two live reads a certificate cost at most two fifths. */
const LEAST_RATIO = 0.6;
const IN_FLIGHT = 32;
/** Of all Services, those of the namespace of the pods; two of them select each pod. */
const NAMESPACES = 20;

/** Nobody runs it, and nobody takes its pods away. */
const NODE = 'node-1';

const sizes = readArguments({
  services: { default: 1000, least: NAMESPACES * 2 },
  pods: { default: 10_000, least: 10 },
  rounds: { default: 3, least: 1 },
});

endOnSignals();
const bench = await startBenchCluster((line) => {
  console.log(line);
});
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
  const arms = ['without', 'with'] as const;
  const rates = new Map<string, number[]>(arms.map((arm) => [arm, []]));
  const peaks = new Map<string, number[]>(arms.map((arm) => [arm, []]));
  for (const turn of inTurns(arms, sizes.rounds)) {
    for (const arm of turn) {
      await serveAs(arm);
      const { certificatesPerSecond, apiServerCpu, contenderCpu } = await leastDisturbed(() =>
        drained(arm),
      );
      rates.get(arm)?.push(certificatesPerSecond);
      console.log(
        `${arm} names of Services: ${certificatesPerSecond.toFixed(0)} certificates a second, ${contenderCpu.toFixed(0)} µs of pcr-issuer and ${apiServerCpu.toFixed(0)} µs of the API server each`,
      );
    }
  }
  const of = (values: ReadonlyMap<string, number[]>, arm: string): number =>
    median(values.get(arm) ?? []);
  const ratio = of(rates, 'with') / of(rates, 'without');
  for (const arm of arms)
    console.log(
      `median, ${arm}: ${of(rates, arm).toFixed(0)} a second, peak ${(of(peaks, arm) / 1024).toFixed(0)} MiB`,
    );
  console.log(`with Services ${ratio.toFixed(2)} of without; the goal is ${LEAST_RATIO}`);
  if (ratio < LEAST_RATIO) process.exitCode = 1;

  async function drained(arm: string): ReturnType<typeof measureDrain> {
    const backlog = await createBacklog(bench, WORKLOAD.signerName, stubs, uids);
    try {
      return await measureDrain(bench, { ...issuer, name: 'countersign' }, backlog, (pid) => {
        peaks.get(arm)?.push(peakOf(pid));
      });
    } finally {
      await backlog.remove();
    }
  }
} finally {
  await bench.stop();
}

/** A signer of another generation is served once authority has looked at it; nobody else runs while it is measured. */
async function serveAs(arm: string): Promise<void> {
  await applySigner(cluster, signerOf(arm));
  const program = [process.execPath, BUNDLE];
  const authority = await startComponents(cluster, { only: ['authority'], program });
  try {
    await waitForUsableCa(cluster, 'workload');
  } finally {
    await authority.stop();
  }
}

function signerOf(arm: string): object {
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
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: {
        ...{ namespace: NAMESPACE, name: `web-workload-${index}`, labels: { app: 'web' } },
      },
      spec: {
        ...{ nodeName: NODE, serviceAccountName: 'web', automountServiceAccountToken: false },
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'web', image: 'registry.k8s.io/pause:3.10' }],
      },
    };
    const made = await client.request<Pod>({
      ...{ method: 'POST', path: PODS.collection(NAMESPACE), body },
    });
    uids[index] = made.metadata.uid;
  });
  return uids;
}

/** The most that was resident, in kibibytes. */
function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}
