// SPDX-License-Identifier: Apache-2.0
/**
 * The account key of an AcmeClusterSigner on the real API server: `authority` and `acme`, each with
 * its own rights.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import type { AcmeSignerStatus } from '#api/acme/acme-signer.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import type { Secret } from '#api/object/object.ts';
import { findCondition } from '#api/request/conditions.ts';
import { renderAdmission, renderRbac } from '#install/render.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { freePort } from '../cluster/ports.ts';
import { until } from '../cluster/until.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { roleWithout } from '../support/cluster/roles.ts';
import { prepareStepCa, type StepCa } from '../stepca/server.ts';
import { startPebble, type Pebble } from './pebble.ts';

const root = join(import.meta.dirname, '../..');
const CRDS = ['clustersigners', 'signers', 'acme/acmeclustersigners', 'acme/acmesigners']
  .concat('acme/orders', 'acme/challenges')
  .flatMap((name) => ['-f', join(root, `deploy/crds/${name}.yaml`)]);
const SOON = 180_000;
/** `internal` is of step-ca, which cannot change keys. */
const NAMES = ['first', 'second', 'internal'];
const USAGES = ['digital signature', 'server auth'];

let cluster: Cluster;
let pebble: Pebble;
let step: StepCa;
let authority: ComponentProcess;
let acme: ComponentProcess;
const directory = mkdtempSync(join(tmpdir(), 'acme-account-'));

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  const port = await freePort();
  // Its own file server, at a port that is known.
  const settings = { http01: `127.0.0.1:${port}`, httpPort: port };
  pebble = await startPebble(directory, { settings });
  step = await prepareStepCa(mkdtempSync(join(directory, 'step-')));
  await step.start();
  await cluster.kubectl(['apply', '-f', join(root, 'deploy/namespaces.yaml')]);
  await cluster.kubectl(['apply', '--server-side', ...CRDS]);
  await established(cluster, ...CRDS);
  const accountKeys = NAMES.map((name) => ({ namespace: 'countersign-keys', name }));
  const signers = NAMES.map((name) => `example.com/${name}`);
  const names = {
    ...DEMO,
    acme: { signers, secrets: [], accountKeys },
    optionalComponents: ['acme'],
  };
  for (const text of [...renderRbac(names).values(), ...renderAdmission(names).values()])
    if (!text.includes('who-may-request')) await applyText(cluster, text);
  authority = await startAuthority();
  acme = await startComponent({
    name: 'acme',
    kubeconfig: await componentKubeconfig(cluster, 'acme'),
    args: [
      `--resolver=${pebble.dns}`,
      '--self-check-network=127.0.0.0/8',
      `--self-check-ports=${port},${port}`,
    ],
  });
});

after(async () => {
  await Promise.all([authority, acme].map((each) => each.stop()));
  await Promise.all([pebble.stop(), step.stop()]);
  await cluster.stop();
  rmSync(directory, { recursive: true });
});

async function startAuthority(): Promise<ComponentProcess> {
  const kubeconfig = await componentKubeconfig(cluster, 'authority');
  return startComponent({ name: 'authority', kubeconfig, args: ['--acme-account-keys'] });
}

async function applySigner(name: string, server = pebble.directory, ca = pebble.ca): Promise<void> {
  await apply(cluster, {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'AcmeClusterSigner',
    metadata: { name },
    spec: {
      signerName: `example.com/${name}`,
      acme: {
        server,
        caBundle: ca,
        termsOfServiceAgreed: true,
        accountKey: { secret: { name } },
        solvers: [{ name: 'http', http01: {} }],
      },
      profile: { usages: USAGES },
      requests: {
        rules: [{ name: 'all', when: 'true', allow: { dnsNames: 'true', usages: USAGES } }],
      },
    },
  });
}

async function get<T>(...what: readonly string[]): Promise<T | undefined> {
  const { stdout } = await cluster.kubectl(['get', ...what, '--ignore-not-found', '-o', 'json']);
  return stdout === '' ? undefined : (JSON.parse(stdout) as T);
}

async function statusOf(name: string): Promise<AcmeSignerStatus> {
  const found = await get<{ status?: AcmeSignerStatus }>('acmeclustersigner', name);
  return found?.status ?? {};
}

const secretOf = (name: string): Promise<Secret | undefined> =>
  get('secret', name, '-n', 'countersign-keys');

const keysOf = (secret: Secret | undefined): string => Object.keys(secret?.data ?? {}).join();

async function verb(...args: readonly string[]): Promise<string> {
  const all = ['authority', ...args, '--kubeconfig', cluster.kubeconfig];
  return (await countersign(all)).stdout;
}

function account(name: string): Promise<NonNullable<AcmeSignerStatus['account']>> {
  return until(`${name} has an account`, SOON, async () => (await statusOf(name)).account ?? false);
}

/** The thumbprint of the key that stands beside the old one. */
function nextKey(name: string): Promise<string> {
  return until('the next key is shown', SOON, async () => {
    return (await statusOf(name)).account?.nextKeyThumbprint ?? false;
  });
}

test('authority makes the key of a signer, and acme opens the account with it', async () => {
  await applySigner('first');
  const { url } = await account('first');
  assert.match(url ?? '', /^https:/);
  const secret = await secretOf('first');
  assert.equal(secret?.type, 'Opaque');
  assert.equal(secret.metadata.annotations?.['countersign.dev/signer-name'], 'example.com/first');
  assert.equal(keysOf(secret), 'tls.key');
});

test('prepare and activate change the account to a new key, and the old one goes', async () => {
  const before = await account('first');
  const old = (await secretOf('first'))?.data?.['tls.key'];
  assert.match(await verb('prepare', 'acmeclustersigner/first'), /changed/);
  const next = await nextKey('first');
  assert.equal(keysOf(await secretOf('first')), 'next.key,tls.key');
  assert.match(await verb('activate', 'acmeclustersigner/first'), /changed/);
  const secret = await until('the old key is gone', SOON, async () => {
    const found = await secretOf('first');
    return keysOf(found) === 'tls.key' && found?.data?.['tls.key'] !== old && found;
  });
  assert.ok(secret);
  const { account: now, conditions = [] } = await statusOf('first');
  assert.deepEqual([now?.url, now?.keyThumbprint], [before.url, next]);
  const said = conditions.map(({ type, reason }) => `${type} ${reason ?? ''}`).sort();
  assert.deepEqual(said, ['KeyRolledOver KeyChanged', 'Ready AccountReady']);
});

test('after a roll-over a Challenge is made again and proved by the new key', async () => {
  const { keyThumbprint: old } = await account('first');
  const wanted = { dnsNames: ['rolls.example'], commonName: '', organizations: [] };
  const admin = { user: 'admin', groups: ['system:masters'] };
  const signerName = 'example.com/first';
  const name = await createCsr(cluster, { ...wanted, signerName, usages: USAGES, as: admin });
  await cluster.kubectl(['certificate', 'approve', name]);
  const challenge = async (isIt: (found: Challenge) => boolean): Promise<Challenge | undefined> => {
    const all = ['challenges.acme.countersign.dev', '-A'];
    const list = await get<{ readonly items: readonly Challenge[] }>(...all);
    return list?.items.find(isIt);
  };
  const isPresented = ({ status }: Challenge): boolean => status.reason === 'NotPropagated';
  const first = await until('nothing is there yet', SOON, () => challenge(isPresented));
  assert.equal(first.spec.key, `${first.spec.token}.${old}`);
  await verb('prepare', 'acmeclustersigner/first');
  const next = await nextKey('first');
  await verb('activate', 'acmeclustersigner/first');
  const second = await until('it is another Challenge', SOON, () =>
    challenge(({ metadata }) => metadata.uid !== first.metadata.uid),
  );
  const { authorizationURL, token = '', key = '' } = second.spec;
  assert.equal(authorizationURL, first.spec.authorizationURL);
  assert.equal(key, `${token}.${next}`);
  // Pebble compares the file with the key that the account has now.
  await pebble.change('add-http01', token, key);
  const leaf = new X509Certificate(await waitForCertificate(cluster, name));
  assert.equal(leaf.subjectAltName, 'DNS:rolls.example');
});

test('a CA without key changes: the condition says what to do; the signer stays ready', async () => {
  await applySigner('internal', step.acmeDirectory, step.root);
  const { keyThumbprint } = await account('internal');
  await verb('prepare', 'acmeclustersigner/internal');
  await nextKey('internal');
  await verb('activate', 'acmeclustersigner/internal');
  const said = await until('the condition says so', SOON, async () => {
    const { conditions } = await statusOf('internal');
    return findCondition(conditions, 'KeyRolledOver');
  });
  assert.deepEqual([said.status, said.reason], ['False', 'KeyChangeUnsupported']);
  assert.match(said.message ?? '', /old key: .*name another Secret in spec\.acme\.accountKey/);
  const { conditions, account: now } = await statusOf('internal');
  const ready = findCondition(conditions, 'Ready')?.status;
  assert.deepEqual([ready, now?.keyThumbprint], ['True', keyThumbprint]);
  assert.equal(keysOf(await secretOf('internal')), 'next.key,tls.key');
});

test('a key that is gone is not replaced while the status names its account', async () => {
  const secret = await secretOf('first');
  await cluster.kubectl(['delete', 'secret', 'first', '-n', 'countersign-keys']);
  await until('it is said', SOON, async () => {
    const reasons = 'jsonpath={.items[*].reason}';
    const args = ['get', 'events.events.k8s.io', '-n', 'default', '-o', reasons];
    return (await cluster.kubectl(args)).stdout.includes('AccountKeyLost');
  });
  assert.equal(await secretOf('first'), undefined);
  const { annotations, name, namespace } = secret?.metadata ?? {};
  await apply(cluster, { ...secret, metadata: { annotations, name, namespace } });
  await until('it is ready again', SOON, async () => {
    const { conditions = [] } = await statusOf('first');
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  });
});

/** Takes a verb of `authority` away, of the Secret of `second` alone where the rule names some. */
function without(
  role: readonly string[],
  verb: string,
  resource: string,
): Promise<() => Promise<void>> {
  return roleWithout(cluster, { role, component: 'authority', verb, resource, name: 'second' });
}

for (const taken of ['get', 'list', 'watch']) {
  test(`authority that may not ${taken} AcmeClusterSigners says so`, async (t) => {
    await authority.stop();
    const restore = await without(['clusterrole'], taken, 'acmeclustersigners');
    t.after(restore);
    authority = await startAuthority();
    await until('it says what is missing', SOON, async () => {
      const { status, text } = await authority.readyz();
      const says = text.includes(`lacks: ${taken} `) && text.includes('acmeclustersigners');
      return status === 503 && says;
    });
    await restore();
    await authority.ready();
  });
}

/**
 * Asks for one more key beside that of `first`, and takes it out again once it is there: authority
 * is at work.
 */
async function othersGetTheirs(): Promise<void> {
  await verb('prepare', 'acmeclustersigner/first');
  const hasNext = async (): Promise<boolean> =>
    keysOf(await secretOf('first')) === 'next.key,tls.key';
  await until('others get theirs', SOON, hasNext);
  const body = JSON.stringify({ data: { 'next.key': null } });
  await cluster.kubectl(['patch', 'secret', 'first', '-n', 'countersign-keys', '-p', body]);
}

for (const taken of ['list', 'watch', 'create']) {
  test(`without ${taken} on the Secret no key is made, and no other waits for it`, async (t) => {
    const restore = await without(['role', '-n', 'countersign-keys'], taken, 'secrets');
    t.after(restore);
    await cluster.kubectl(['delete', 'acmeclustersigner', 'second', '--ignore-not-found']);
    const second = ['secret', 'second', '-n', 'countersign-keys', '--ignore-not-found'];
    await cluster.kubectl(['delete', ...second]);
    await authority.kill();
    authority = await startAuthority();
    await applySigner('second');
    await othersGetTheirs();
    assert.equal(await secretOf('second'), undefined);
    await restore();
    await until('it is made', SOON, async () => keysOf(await secretOf('second')) === 'tls.key');
  });
}

test('without patch on the Secret no new key stands beside the old one', async (t) => {
  await account('second');
  const restore = await without(['role', '-n', 'countersign-keys'], 'patch', 'secrets');
  t.after(restore);
  await verb('prepare', 'acmeclustersigner/second');
  await until('it was tried', SOON, () => {
    const lines = authority.log.map((line) => JSON.stringify(line));
    return Promise.resolve(lines.some((line) => line.includes('cannot patch')));
  });
  assert.equal(keysOf(await secretOf('second')), 'tls.key');
  await restore();
  const hasNext = async (): Promise<boolean> =>
    keysOf(await secretOf('second')) === 'next.key,tls.key';
  await until('it is made', SOON, hasNext);
});
