// SPDX-License-Identifier: Apache-2.0
/** The account key of an AcmeClusterSigner on the real API server: `authority` and `acme`, each with its own rights. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { DEMO } from '../../build/demo-installation.ts';
import type { AcmeSignerStatus } from '../../src/api/acme/index.ts';
import type { Secret } from '../../src/api/object/object.ts';
import { renderAdmission, renderRbac } from '../../src/manifests/render.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { startPebble, type Pebble } from './pebble.ts';

const root = join(import.meta.dirname, '../..');
const CRDS = ['clustersigners', 'signers', 'acme/acmeclustersigners', 'acme/acmesigners']
  .concat('acme/orders', 'acme/challenges')
  .flatMap((name) => ['-f', join(root, `deploy/crds/${name}.yaml`)]);
const SOON = 180_000;
const NAMES = ['first', 'second'];

let cluster: Cluster;
let pebble: Pebble;
let authority: ComponentProcess;
let acme: ComponentProcess;
const directory = mkdtempSync(join(tmpdir(), 'acme-account-'));

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  pebble = await startPebble(directory);
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
  });
});

after(async () => {
  await Promise.all([authority, acme].map((each) => each.stop()));
  await pebble.stop();
  await cluster.stop();
  rmSync(directory, { recursive: true });
});

async function startAuthority(): Promise<ComponentProcess> {
  const kubeconfig = await componentKubeconfig(cluster, 'authority');
  return startComponent({ name: 'authority', kubeconfig, args: ['--acme-account-keys'] });
}

async function applySigner(name: string): Promise<void> {
  await apply(cluster, {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'AcmeClusterSigner',
    metadata: { name },
    spec: {
      signerName: `example.com/${name}`,
      acme: {
        server: pebble.directory,
        caBundle: pebble.ca,
        termsOfServiceAgreed: true,
        accountKey: { secret: { name } },
        solvers: [{ name: 'http', http01: {} }],
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
  const main = join(root, 'src/cli/main.ts');
  const all = [main, 'authority', ...args, '--kubeconfig', cluster.kubeconfig];
  const { stdout } = await promisify(execFile)(process.execPath, all);
  return stdout;
}

function account(name: string): Promise<NonNullable<AcmeSignerStatus['account']>> {
  return until(`${name} has an account`, SOON, async () => (await statusOf(name)).account ?? false);
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
  const next = await until('the next key is shown', SOON, async () => {
    return (await statusOf('first')).account?.nextKeyThumbprint ?? false;
  });
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

test('a key that is gone is not replaced while the status names its account', async () => {
  const secret = await secretOf('first');
  await cluster.kubectl(['delete', 'secret', 'first', '-n', 'countersign-keys']);
  await until('it is said', SOON, async () => {
    const args = [
      'get',
      'events.events.k8s.io',
      '-n',
      'default',
      '-o',
      'jsonpath={.items[*].reason}',
    ];
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

interface Role {
  readonly rules: readonly {
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/** Takes a verb away, from the rule of one Secret alone where it names some. @returns what gives it back */
async function without(
  kind: readonly string[],
  taken: string,
  resource: string,
): Promise<() => Promise<void>> {
  const role = await get<Role>(...kind, 'countersign-authority');
  assert.ok(role);
  const rules = role.rules.flatMap((rule) => {
    const { resources, resourceNames, verbs } = rule;
    const isNamed = resourceNames?.includes('second') ?? true;
    if (!resources.includes(resource) || !isNamed) return [rule];
    const others = resourceNames?.filter((name) => name !== 'second') ?? [];
    const narrower = { ...rule, verbs: verbs.filter((each) => each !== taken) };
    const own = resourceNames === undefined ? narrower : { ...narrower, resourceNames: ['second'] };
    const rest = { ...rule, resourceNames: others };
    return [own, ...(others.length === 0 ? [] : [rest])].filter((each) => each.verbs.length > 0);
  });
  const replace = async (changed: object): Promise<void> => {
    const { metadata } = changed as { readonly metadata: object };
    const body = { ...changed, metadata: { ...metadata, resourceVersion: undefined } };
    await cluster.kubectl(['replace', '-f', '-'], { input: JSON.stringify(body) });
  };
  await replace({ ...role, rules });
  return () => replace(role);
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

/** Asks for one more key beside that of `first`, and takes it out again once it is there: authority is at work. */
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
