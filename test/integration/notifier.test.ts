// SPDX-License-Identifier: Apache-2.0
/**
 * What notifier tells of a real cluster, judged by the libraries of CloudEvents and Standard
 * Webhooks.
 */
import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { CloudEvent } from 'cloudevents';
import { DEMO } from '../../build/demo-installation.ts';
import { renderRbac } from '#install/render.ts';
import type { CheckReport } from '#diagnose/check/report.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { getSigner, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { allowRequesters, createCsr } from '../support/cluster/requests/csr.ts';
import { eachRuleIsNeeded, rolesIn } from '../support/cluster/without-rule.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';
import { requestsOfAcmeAreTold } from './notifier/of-acme.ts';
import { requestsOfPodsAreTold } from './notifier/of-pods.ts';
import { receiver, SECRET, type Receiver } from './notifier/receiver.ts';

const WAIT_MS = 120_000;

const roleText =
  renderRbac({ ...DEMO, optionalComponents: ['notifier'], notifiedPods: true }).get(
    'notifier.yaml',
  ) ?? '';

let fixture: Fixture;
let directory: string;
let ops: Receiver;
let other: Receiver;
let notifier: ComponentProcess;

async function start(): Promise<ComponentProcess> {
  const started = await startComponent({
    name: 'notifier',
    kubeconfig: await componentKubeconfig(fixture.cluster, 'notifier'),
    args: [
      `--target=ops=https://127.0.0.1:${ops.port}/x`,
      '--target-network=127.0.0.0/8',
      `--target=other=https://127.0.0.1:${other.port}/`,
      `--target-secrets=${directory}`,
      `--target-ca=${join(directory, 'ca.crt')}`,
      '--source=https://test.example',
      '--read-pods',
    ],
  });
  await started.ready(WAIT_MS);
  return started;
}

async function kubectl(...args: readonly string[]): Promise<string> {
  return (await fixture.cluster.kubectl(args)).stdout;
}

/** The event, once it was taken. */
function told(by: Receiver, id: string): Promise<CloudEvent<unknown>> {
  return until(`${id} is told`, WAIT_MS, () =>
    Promise.resolve(by.taken.find((each) => each.id === id)),
  );
}

async function deniedCsr(): Promise<string> {
  const name = await createCsr(fixture.cluster, { signerName: 'example.com/people' });
  await kubectl('certificate', 'deny', name);
  const uid = await kubectl('get', 'csr', name, '-o', 'jsonpath={.metadata.uid}');
  return `${uid}:denied`;
}

/** The cursor names the version of what came last. */
async function cursorSaved(): Promise<void> {
  const list = JSON.parse(
    await kubectl('get', '--raw', '/apis/certificates.k8s.io/v1/certificatesigningrequests'),
  ) as {
    readonly items: readonly { readonly metadata: { readonly resourceVersion: string } }[];
  };
  const newest = Math.max(...list.items.map(({ metadata }) => Number(metadata.resourceVersion)));
  await until('the cursor is saved', WAIT_MS, async () => {
    const jsonpath = 'jsonpath={.data.target\\.other}';
    const found = await kubectl(
      'get',
      'configmap',
      'countersign-notifier',
      '-n',
      'countersign-system',
      '-o',
      jsonpath,
    );
    const { versions = {} } = JSON.parse(found === '' ? '{}' : found) as {
      readonly versions?: Readonly<Record<string, string>>;
    };
    return Number(versions['certificatesigningrequests'] ?? 0) >= newest;
  });
}

before(async () => {
  fixture = await startFixture({
    only: ['authority', 'attester', 'signer', 'pcr-issuer'],
    args: ['--propagation', '2s'],
  });
  await allowRequesters(fixture.cluster);
  const tls = await tlsCertificate('receiver');
  directory = await mkdtemp(join(tmpdir(), 'notifier-'));
  for (const name of ['ops', 'other']) await writeFile(join(directory, name), `${SECRET}\n`);
  await writeFile(join(directory, 'ca.crt'), tls.cert);
  await applyText(fixture.cluster, roleText);
  await kubectl('create', 'configmap', 'countersign-notifier', '-n', 'countersign-system');
  ops = await receiver(tls);
  other = await receiver(tls);
  notifier = await start();
});

after(async () => {
  await notifier.stop();
  await Promise.all([ops.close(), other.close()]);
  await fixture.stop();
});

test('a request that is issued and one that is denied are each told once, and signed', async () => {
  const denied = await told(ops, await deniedCsr());
  assert.equal(denied.type, 'dev.countersign.certificate.denied');
  assert.equal(denied.source, 'https://test.example');
  const name = await createCsr(fixture.cluster, { signerName: 'example.com/people' });
  await kubectl('certificate', 'approve', name);
  const uid = await kubectl('get', 'csr', name, '-o', 'jsonpath={.metadata.uid}');
  const issued = await told(ops, `${uid}:issued`);
  assert.equal(issued.subject, `certificatesigningrequests/${name}`);
  const { certificate } = issued.data as { readonly certificate: { readonly fingerprint: string } };
  assert.match(certificate.fingerprint, /^sha256:[0-9a-f]{64}$/);
  await told(other, `${uid}:issued`);
  assert.deepEqual(ops.seen, [...new Set(ops.seen)]);
});

test('a CA that is distrusted, and the one that takes its place, are each told once', async () => {
  const { metadata, status } = await getSigner(fixture.cluster, 'workload');
  const active = status?.authorities?.find(({ phase }) => phase === 'Active')?.fingerprint ?? '';
  const spec = { authority: { managed: { distrusted: [active] } } };
  await kubectl(
    'patch',
    'clustersigner',
    'workload',
    '--type=merge',
    '-p',
    JSON.stringify({ spec }),
  );
  await told(ops, `${metadata.uid}:${active}:distrusted`);
  const rotated = await until('it is told that another CA signs', WAIT_MS, () =>
    Promise.resolve(ops.taken.find(({ type }) => type === 'dev.countersign.authority.rotated')),
  );
  const { previous } = rotated.data as { readonly previous: { readonly fingerprint: string } };
  assert.equal(previous.fingerprint, active);
  assert.deepEqual(ops.seen, [...new Set(ops.seen)]);
});

test('a receiver that is away gets it later; the other one at once', async () => {
  await ops.close();
  const id = await deniedCsr();
  await told(other, id);
  const { status, text: said } = await notifier.readyz();
  assert.equal(status, 200);
  assert.match(said, /warning: target ops does not receive events/);
  await ops.open();
  await told(ops, id);
});

for (const status of [500, 429]) {
  test(`a receiver that answers ${status} gets it again, with the same id`, async () => {
    ops.status = status;
    const id = await deniedCsr();
    await until(`it was tried`, WAIT_MS, () => Promise.resolve(ops.seen.includes(id)));
    ops.status = 204;
    await told(ops, id);
    assert.ok(ops.seen.filter((each) => each === id).length > 1);
  });
}

test('the next process delivers what a killed one did not, and nothing twice', async () => {
  const first = await deniedCsr();
  await told(ops, first);
  await told(other, first);
  await cursorSaved();
  await ops.close();
  const second = await deniedCsr();
  await told(other, second);
  await cursorSaved();
  await notifier.kill();
  const third = await deniedCsr();
  await ops.open();
  notifier = await start();
  for (const id of [second, third]) await told(ops, id);
  await told(other, third);
  assert.equal(ops.seen.filter((id) => id === first).length, 1);
  assert.equal(other.seen.filter((id) => id === second).length, 1);
});

const stage = (): { cluster: Cluster; told: (id: string) => Promise<CloudEvent<unknown>> } => ({
  cluster: fixture.cluster,
  told: (id) => told(ops, id),
});

requestsOfPodsAreTold(stage);
requestsOfAcmeAreTold(() => ({
  ...stage(),
  restart: async () => {
    await notifier.stop();
    notifier = await start();
  },
}));

eachRuleIsNeeded('notifier', rolesIn(roleText), () => ({
  cluster: fixture.cluster,
  component: notifier,
}));

test('410 ends a target, and no other', async () => {
  ops.status = 410;
  const id = await deniedCsr();
  await told(other, id);
  await until('it is said', WAIT_MS, async () => (await notifier.readyz()).text.includes('410'));
  ops.status = 204;
  const next = await deniedCsr();
  await told(other, next);
  assert.ok(!ops.seen.includes(next));
  assert.match(
    await notifier.metrics(),
    /countersign_notifications_target_gone\{[^}]*target="ops"[^}]*\} 1/,
  );
});

test('a target that is gone has an Event where its cursor is, and a finding of check', async () => {
  const [{ uid }, event] = await until('the Event is there', WAIT_MS, async () => {
    const of = ['-n', 'countersign-system', '-o', 'json'];
    const events = JSON.parse(await kubectl('get', 'events.events.k8s.io', ...of)) as {
      readonly items: readonly GoneEvent[];
    };
    const found = events.items.find(({ reason }) => reason === 'TargetGone');
    const map = JSON.parse(await kubectl('get', 'configmap', 'countersign-notifier', ...of)) as {
      readonly metadata: { readonly uid: string };
    };
    return found === undefined ? undefined : ([map.metadata, found] as const);
  });
  assert.equal(event.regarding.uid, uid);
  assert.equal(event.reportingController, 'countersign.dev/notifier');
  assert.match(event.note, /^target ops returned 410 Gone/);
  assert.ok(!event.note.includes(SECRET));
  await until('check finds it', WAIT_MS, async () => {
    const { kubeconfig } = fixture.cluster;
    const { stdout } = await countersign(['check', '--kubeconfig', kubeconfig, '-o', 'json']);
    const { checks } = JSON.parse(stdout) as CheckReport;
    const found = checks.filter(({ id }) => id === 'notifications-delivered');
    return found.some(
      ({ severity, why }) => severity === 'warning' && /^target ops .*410/.test(why),
    );
  });
});

interface GoneEvent {
  readonly reason: string;
  readonly note: string;
  readonly reportingController: string;
  readonly regarding: { readonly uid?: string };
}
