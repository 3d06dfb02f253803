// SPDX-License-Identifier: Apache-2.0
/** What notifier tells of a real cluster, judged by the libraries of CloudEvents and Standard Webhooks. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { DEMO } from '../../build/demo-installation.ts';
import { renderRbac } from '../../src/manifests/render.ts';
import { freePort } from '../cluster/ports.ts';
import { until } from '../cluster/until.ts';
import { applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { getSigner, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { allowRequesters, createCsr } from '../support/cluster/requests/csr.ts';
import { eachRuleIsNeeded, rolesIn } from '../support/cluster/without-rule.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';

const WAIT_MS = 120_000;
const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

/** A receiver that verifies what it gets. */
interface Receiver {
  readonly port: number;
  /** What it took, by the order in which it came. */
  readonly taken: CloudEvent<unknown>[];
  /** Ids of all that came, taken or not. */
  readonly seen: string[];
  /** What it answers; 204: it takes the event. */
  status: number;
  readonly headers: Record<string, string>;
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
}

let tls: Awaited<ReturnType<typeof tlsCertificate>>;

async function receiver(): Promise<Receiver> {
  const port = await freePort();
  let server: Server | undefined;
  const found: Receiver = {
    ...{ port, taken: [], seen: [], status: 204, headers: {} },
    open: async () => {
      server = createServer(tls, (request, response) => {
        void text(request).then((body) => {
          const headers = { ...request.headers } as Record<string, string>;
          new Webhook(SECRET).verify(body, headers);
          const event = HTTP.toEvent({ headers, body });
          assert.ok(event instanceof CloudEvent && event.validate());
          assert.equal(headers['webhook-id'], event.id);
          found.seen.push(event.id);
          if (found.status === 204) found.taken.push(event);
          response.writeHead(found.status, found.headers).end();
        });
      });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: async () => {
      const closed = server === undefined ? undefined : once(server, 'close');
      server?.close();
      server?.closeAllConnections();
      await closed;
    },
  };
  await found.open();
  return found;
}

const roleText =
  renderRbac({ ...DEMO, optionalComponents: ['notifier'] }).get('notifier.yaml') ?? '';

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
      ...[`--target=ops=https://127.0.0.1:${ops.port}/x`, '--target-network=127.0.0.0/8'],
      ...[`--target=other=https://127.0.0.1:${other.port}/`, `--target-secrets=${directory}`],
      ...[`--target-ca=${join(directory, 'ca.crt')}`, '--source=https://test.example'],
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
    only: ['authority', 'attester', 'signer'],
    args: ['--propagation', '2s'],
  });
  await allowRequesters(fixture.cluster);
  tls = await tlsCertificate('receiver');
  directory = await mkdtemp(join(tmpdir(), 'notifier-'));
  for (const name of ['ops', 'other']) await writeFile(join(directory, name), `${SECRET}\n`);
  await writeFile(join(directory, 'ca.crt'), tls.cert);
  await applyText(fixture.cluster, roleText);
  await kubectl('create', 'configmap', 'countersign-notifier', '-n', 'countersign-system');
  ops = await receiver();
  other = await receiver();
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
  assert.match(said, /warning: target ops is not told/);
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

test('what was not delivered when the process was killed is told by the next, and what was is not', async () => {
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
    /countersign_notifications_gone\{[^}]*target="ops"[^}]*\} 1/,
  );
});
