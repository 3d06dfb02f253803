// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-check`: how long `countersign check` takes on a large cluster, and how much memory:
 * so many ClusterSigners, each with a managed CA and a published bundle, beside so many pods. ARGS:
 * `--signers 1000 --pods 150000 --rounds 3`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { installationFiles } from '#install/files.ts';
import { planOf } from '#install/values/plan.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { openCluster } from '../../test/cluster/cluster.ts';
import { exactRelease } from '../../test/cluster/releases.ts';
import { until } from '../../test/cluster/until.ts';
import { apply } from '../../test/support/cluster/apply.ts';
import { example } from '../../test/support/cluster/fixture.ts';
import { applyManifests, startComponents } from '../../test/support/cluster/installation.ts';
import { createTeam } from '../../test/support/cluster/pods.ts';
import { administratorOf } from '../cluster/administrator.ts';
import { BUNDLE, CLUSTER, NAMESPACE } from '../cluster/start.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { median } from '../measure/median.ts';
import { memoryOf } from '../measure/process-memory.ts';
import { rounded } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';

const sizes = readArguments({
  signers: { default: 1_000, least: 1 },
  pods: { default: 150_000, least: 0 },
  rounds: { default: 3, least: 1 },
});

const AT_ONCE = 32;
const CAS_MS = 1_800_000;
const MIB = 2 ** 20;

endOnSignals();
const cluster = await openCluster({ ...CLUSTER, log: console.log });
const client = await administratorOf(cluster);
const names = Array.from({ length: sizes.signers }, (_, index) => `bench-${index}`);
try {
  await applyManifests(cluster);
  await install();
  const program = [process.execPath, BUNDLE];
  const installation = await startComponents(cluster, { only: ['authority', 'attester'], program });
  await atOnce(names.length, 'signers', createSigner);
  await until('every CA is usable and published', CAS_MS, isPublished);
  await createTeam(cluster, NAMESPACE, ['web']);
  await atOnce(sizes.pods, 'pods', createPod);
  const rounds: Run[] = [];
  for (let round = 0; round < sizes.rounds; round += 1) {
    const run = await check();
    console.log(
      `${run.seconds.toFixed(1)} s, ${(run.peak / MIB).toFixed(0)} MiB, exit ${run.code}`,
    );
    rounds.push(run);
  }
  await installation.stop();
  const seconds = median(rounds.map((each) => each.seconds));
  const peak = Math.max(...rounds.map((each) => each.peak));
  writeResults(sizes.results, 'check', {
    ratios: { check_s: rounded(seconds) },
    figures: {
      signers: sizes.signers,
      pods: sizes.pods,
      rounds: sizes.rounds,
      check: { seconds: rounded(seconds), peakMiB: rounded(peak / MIB) },
    },
    machine: readMachine(exactRelease(cluster.version)),
  });
} finally {
  await client.close();
  await cluster.stop();
}

/** The roles and policies of an installation with all these signers. */
async function install(): Promise<void> {
  const signers = names.map((name) => ({ name: `example.com/${name}`, bundle: 'primary' }));
  const plan = planOf({ signers }, { namespace: 'default', version: '0.0.0' });
  const files = [...installationFiles(plan)];
  const wanted = files.filter(([file]) => /^(?:rbac|admission|deploy\/admission)\//.test(file));
  for (const [, objects] of wanted) await apply(cluster, ...objects);
}

async function createSigner(index: number): Promise<void> {
  const path = CLUSTER_SIGNERS.collection();
  await client.request({ method: 'POST', path, body: signerOf(names[index] ?? '') });
}

function signerOf(name: string): object {
  const workload = example('workload') as {
    readonly spec: {
      readonly authority: { readonly managed: { readonly secret: object; commonName: string } };
    };
  };
  const { spec } = workload;
  const { managed } = spec.authority;
  const secret = { ...managed.secret, name: `${name}-ca` };
  return {
    ...workload,
    metadata: { name },
    spec: {
      ...spec,
      signerName: `example.com/${name}`,
      authority: { managed: { ...managed, secret } },
    },
  };
}

async function isPublished(): Promise<boolean> {
  const { stdout } = await cluster.kubectl([
    'get',
    'clustertrustbundles',
    '-o',
    'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}',
  ]);
  return stdout.split('\n').filter((each) => each.includes(':bench-')).length === names.length;
}

/** Of no node: the scheduler has none, and check reads no pod that asks for nothing. */
async function createPod(index: number): Promise<void> {
  await client.request({
    method: 'POST',
    path: `/api/v1/namespaces/${NAMESPACE}/pods`,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `bench-${index}`, namespace: NAMESPACE },
      spec: {
        automountServiceAccountToken: false,
        schedulingGates: [{ name: 'countersign.dev/bench' }],
        containers: [{ name: 'app', image: 'x' }],
      },
    },
  });
}

/** @param work - takes 0 to `count - 1` */
async function atOnce(
  count: number,
  what: string,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
      if (next % 10_000 === 0) console.log(`${next} ${what}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

interface Run {
  readonly seconds: number;
  /** Bytes. */
  readonly peak: number;
  readonly code: number | null;
}

/** Some checks fail, as no other component runs; what it costs is the same. */
async function check(): Promise<Run> {
  const begun = performance.now();
  const child = spawn(
    process.execPath,
    [BUNDLE, 'check', '--kubeconfig', cluster.kubeconfig, '-o', 'json'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, memoryOf(child.pid ?? 0)?.peak ?? 0);
  }, 20);
  await once(child, 'exit');
  clearInterval(timer);
  return { seconds: (performance.now() - begun) / 1000, peak, code: child.exitCode };
}
