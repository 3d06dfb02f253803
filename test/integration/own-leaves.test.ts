// SPDX-License-Identifier: Apache-2.0
/**
 * Workloads of one namespace and one signer, with real kubelets, a real CA and injection: each
 * holds a leaf of its own, and a CA that is distrusted restarts those that opted in, also by a
 * pod-refresher that never saw their requests.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Workload } from '#api/workload/workload.ts';
import { summaryOf } from '#workloads/refresh/credentials/leaf.ts';
import { CERTIFICATES } from '#workloads/refresh/record.ts';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { getSigner, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { applyCrds } from '../certmanager/crds.ts';
import { grantRefresher, startRefresher } from './pod-refresher/stand.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'src/cli/main.ts');
const TEAM = 'team-own';
const SIGNER = 'example.com/workload';
const PATIENCE_MS = 240_000;
const IN_TEAM = ['-n', TEAM] as const;

/** Name → what it says of restarts, and whether injection brings the volume. */
const WORKLOADS = {
  written: { refresh: 'restart', isInjected: false },
  injected: { refresh: 'restart', isInjected: true },
  'reads-again': { refresh: 'secrets', isInjected: true },
  out: { refresh: 'off', isInjected: true },
} as const;
const OPTED_IN = ['written', 'injected', 'reads-again'] as const;

let fixture: Fixture;
let refresher: ComponentProcess | undefined;

before(async () => {
  fixture = await startFixture();
  const { cluster } = fixture;
  await applyCrds(cluster);
  await grantRefresher(cluster);
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/admission/injection.yaml')]);
  const labels = { 'countersign.dev/refresh': 'enabled', 'countersign.dev/inject': 'enabled' };
  const metadata = { name: TEAM, labels };
  await apply(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata });
  await until('injection is in force', PATIENCE_MS, async () => {
    const pod = { ...podSpec('probe', true), metadata: { name: 'probe', annotations: INJECTED } };
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod });
    const args = ['create', '--dry-run=server', '-o', 'json', ...IN_TEAM, '-f', '-'];
    return (await cluster.kubectl(args, { input: body })).stdout.includes('podCertificate');
  });
  await apply(cluster, ...Object.keys(WORKLOADS).map((name) => deployment(name)));
  for (const name of Object.keys(WORKLOADS)) await rolledOut(name);
  refresher = await startRefresher(cluster);
  await refresher.ready();
});

after(async () => {
  await refresher?.stop();
  await fixture.stop();
});

const INJECTED = { 'countersign.dev/inject': 'workload' };

function podSpec(name: string, isInjected: boolean): { readonly spec: object } {
  const podCertificate = {
    signerName: SIGNER,
    keyType: 'ECDSAP256',
    credentialBundlePath: 'credentials.pem',
  };
  const volume = { name: 'identity', projected: { sources: [{ podCertificate }] } };
  const mount = { name: 'identity', mountPath: '/run/identity' };
  return {
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name,
          image: 'registry.k8s.io/pause:3.10',
          ...(isInjected ? {} : { volumeMounts: [mount] }),
        },
      ],
      ...(isInjected ? {} : { volumes: [volume] }),
    },
  };
}

function deployment(name: string): object {
  const { refresh, isInjected } = WORKLOADS[name as keyof typeof WORKLOADS];
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: TEAM, name, annotations: { 'countersign.dev/refresh': refresh } },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, ...(isInjected ? { annotations: INJECTED } : {}) },
        ...podSpec(name, isInjected),
      },
    },
  };
}

async function rolledOut(name: string): Promise<void> {
  const timeout = `--timeout=${PATIENCE_MS / 1000}s`;
  await fixture.cluster.kubectl(['rollout', 'status', ...IN_TEAM, timeout, `deployment/${name}`]);
}

async function listed<T>(plural: string): Promise<readonly T[]> {
  const { stdout } = await fixture.cluster.kubectl(['get', plural, ...IN_TEAM, '-o', 'json']);
  return (JSON.parse(stdout) as { readonly items: readonly T[] }).items;
}

async function generations(): Promise<Readonly<Record<string, number>>> {
  const all = await listed<Workload>('deployments');
  return Object.fromEntries(all.map(({ metadata }) => [metadata.name, metadata.generation ?? 0]));
}

/** Fingerprint → the name of the pod whose leaf it is. */
async function leaves(): Promise<ReadonlyMap<string, string>> {
  const all = await listed<PodCertificateRequest>('podcertificaterequests');
  return new Map(
    all.map(({ spec, status }) => [
      summaryOf(status?.certificateChain ?? '')?.hash ?? '',
      spec.podName,
    ]),
  );
}

async function plan(): Promise<readonly { workload: string; when: string; why: string }[]> {
  const { kubeconfig } = fixture.cluster;
  const args = [MAIN, 'refresh', 'plan', '--kubeconfig', kubeconfig, '-n', TEAM, '-o', 'json'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof plan>>;
}

async function distrust(): Promise<void> {
  const { status, spec } = await getSigner(fixture.cluster, 'workload');
  const active = status?.authorities?.find(({ phase }) => phase === 'Active');
  assert.ok(active);
  const distrusted = [...(spec.authority.managed?.distrusted ?? []), active.fingerprint];
  const patch = JSON.stringify({ spec: { authority: { managed: { distrusted } } } });
  const args = ['patch', 'clustersigner', 'workload', '--type=merge', '-p', patch];
  await fixture.cluster.kubectl(args);
}

async function untilRestarted(times: number): Promise<void> {
  await until('all that opted in are restarted', PATIENCE_MS, async () => {
    const found = await generations();
    return OPTED_IN.every((name) => found[name] === 1 + times);
  });
  for (const name of OPTED_IN) await rolledOut(name);
  assert.equal((await generations())['out'], 1);
}

test('a distrusted CA restarts each opted-in workload once, each with its own leaf', async () => {
  assert.deepEqual(await plan(), [], 'pods of a minute have the first leaf that they got');
  const before = await leaves();
  await distrust();
  await untilRestarted(1);
  for (const { metadata, spec } of await listed<Workload>('deployments')) {
    const recorded = spec.template.metadata?.annotations?.[CERTIFICATES] ?? '';
    if (metadata.name === 'out') assert.equal(recorded, '');
    const own = [...recorded.matchAll(/pod-certificate\/[^=]+=([0-9a-f]{64})/g)];
    for (const [, hash = ''] of own) {
      assert.match(before.get(hash) ?? 'unknown', new RegExp(`^${metadata.name}-`));
    }
    assert.equal(own.length, metadata.name === 'out' ? 0 : 1, recorded);
  }
});

test('a pod-refresher without records restarts pods by their start times', async () => {
  await refresher?.stop();
  await distrust();
  await until('another CA signs', PATIENCE_MS, async () => {
    const { status, spec } = await getSigner(fixture.cluster, 'workload');
    const active = status?.authorities?.find(({ phase }) => phase === 'Active');
    return (
      active !== undefined &&
      spec.authority.managed?.distrusted?.includes(active.fingerprint) !== true
    );
  });
  await fixture.cluster.kubectl(['delete', 'podcertificaterequests', '--all', ...IN_TEAM]);
  const rows = await plan();
  assert.deepEqual(
    [...new Set(rows.map(({ workload }) => workload.replace(/^.*\//, '')))].sort(),
    [...OPTED_IN].sort(),
  );
  assert.ok(rows.some(({ why }) => why.includes('use or may use CA')));
  // No workload is restarted again within five minutes of that time.
  const label = ['label', 'deployments', '--all', 'countersign.dev/restarted-at-', ...IN_TEAM];
  await fixture.cluster.kubectl(label);
  refresher = await startRefresher(fixture.cluster);
  await refresher.ready();
  await untilRestarted(2);
  assert.deepEqual(
    (await plan()).filter(({ when }) => when !== 'unknown'),
    [],
  );
});
