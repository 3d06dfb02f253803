// SPDX-License-Identifier: Apache-2.0
/**
 * From a request to a certificate that OpenSSL verifies, with every component as its own process and by its own rights:
 * Pebble looks for proofs at acme-responder and at a real BIND, and acme looks for them first. Nobody takes anybody's
 * part.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { parseDnsAddress } from '../../src/acme-solving/dns/address.ts';
import { sendByTcp } from '../../src/acme-solving/dns/transport.ts';
import { signMessage } from '../../src/acme-solving/dns/tsig.ts';
import { encodeUpdate } from '../../src/acme-solving/dns/update.ts';
import type { AcmeSigner, Challenge } from '../../src/api/acme/index.ts';
import { renderAdmission, renderRbac } from '../../src/manifests/render.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { established } from '../cluster/established.ts';
import { freePort } from '../cluster/ports.ts';
import { until } from '../cluster/until.ts';
import { startBind, type DnsServer, type UpdateKey } from '../dns/server.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { componentKubeconfig, KEYS_NAMESPACE } from '../support/cluster/installation.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { startPebble, type Pebble } from './pebble.ts';

const ROOT = join(import.meta.dirname, '../..');
const BUNDLE = [process.execPath, join(ROOT, 'dist/countersign.mjs')];
const DNS_NAMESPACE = 'countersign-dns';
const ACME_COMPONENTS = ['acme', 'acme-responder', 'acme-solver'] as const;
const signerName = 'example.com/public';
const usages = ['digital signature', 'server auth'];
const SOON = 60_000;
const KEY: UpdateKey = {
  ...{ name: 'acme-key', algorithm: 'HMAC-SHA256' },
  secret: Buffer.alloc(32, 7).toString('base64'),
};

let directory: string;
let cluster: Cluster;
let bind: DnsServer;
let pebble: Pebble;
const components: ComponentProcess[] = [];

before(async () => {
  directory = makeDirectory();
  const http = await freePort();
  bind = await startBind({
    ...{ directory: join(directory, 'dns'), address: '127.0.0.1', port: await freePort() },
    zones: { 'shop.example': ['@ NS ns1', 'ns1 A 127.0.0.1', 'www A 127.0.0.1'] },
    updates: { zones: ['shop.example'], key: KEY },
  });
  pebble = await startPebble(directory, { settings: { httpPort: http, resolver: bind.at } });
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  await install();
  const resolver = `--resolver=${bind.at}`;
  const http01 = ['--self-check-network=127.0.0.0/8', `--self-check-ports=${http},${http}`];
  await Promise.all([
    start('approver'),
    start('acme', resolver, ...http01),
    start('acme-responder', '--no-leases', `--listen-challenges=127.0.0.1:${http}`),
    start('acme-solver', resolver),
  ]);
});

after(async () => {
  await Promise.all(components.map((each) => each.stop()));
  await cluster.stop();
  await pebble.stop();
  await bind.stop();
  removeDirectory(directory);
});

/** The manifests as they are shipped, the account key by the command that makes it, and a signer. */
async function install(): Promise<void> {
  const crds = ['clustersigners', 'signers', 'acme'].flatMap((name) => [
    '-f',
    join(ROOT, 'deploy/crds', name === 'acme' ? name : `${name}.yaml`),
  ]);
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/namespaces.yaml')]);
  await cluster.kubectl(['apply', '--server-side', ...crds]);
  await established(cluster, ...crds);
  const installation = {
    ...DEMO,
    acme: { signers: [signerName], secrets: [{ namespace: KEYS_NAMESPACE, name: 'account' }] },
    optionalComponents: ACME_COMPONENTS,
    solverSecrets: [{ namespace: DNS_NAMESPACE, name: 'tsig' }],
  };
  const texts = [...renderRbac(installation).values(), ...renderAdmission(installation).values()];
  await cluster.kubectl(['create', 'namespace', DNS_NAMESPACE]);
  // One call: what grants people their requests is the installation's own, and not of this test.
  const applied = texts.filter((text) => !text.includes('who-may-request'));
  await applyText(cluster, applied.join('\n---\n'));
  await allowRequesters(cluster);
  const tsig = `--from-literal=tsig=${KEY.secret}`;
  await cluster.kubectl(['create', 'secret', 'generic', 'tsig', '-n', DNS_NAMESPACE, tsig]);
  await apply(cluster, signer());
  const [node = '', main = ''] = BUNDLE;
  execFileSync(node, [main, 'account-key', '--kubeconfig', cluster.kubeconfig, 'public']);
}

function signer(): object {
  const { name: keyName, algorithm } = KEY;
  const tsig = { keyName, algorithm, secret: { name: 'tsig' } };
  // BIND does not listen on port 53 here.
  const selfCheck = { nameservers: [bind.at] };
  const solvers = [
    { name: 'http', http01: {} },
    {
      ...{ name: 'update', selfCheck, rfc2136: { server: bind.at, tsig } },
      selector: { dnsZones: ['wild.shop.example'] },
    },
    {
      ...{ name: 'stays', selfCheck, persist: {} },
      selector: { dnsNames: ['*.stays.shop.example'] },
    },
  ];
  const allow = { dnsNames: "self.endsWith('.example')", usages };
  return {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'AcmeClusterSigner',
    metadata: { name: 'public' },
    spec: {
      ...{ signerName, profile: { usages } },
      acme: {
        ...{ server: pebble.directory, caBundle: pebble.ca, termsOfServiceAgreed: true },
        ...{ accountKey: { secret: { name: 'account' } }, solvers },
      },
      requests: { rules: [{ name: 'examples', when: 'true', allow }] },
    },
  };
}

async function start(
  name: 'approver' | (typeof ACME_COMPONENTS)[number],
  ...args: readonly string[]
): Promise<void> {
  const kubeconfig = await componentKubeconfig(cluster, name);
  components.push(await startComponent({ name, kubeconfig, program: BUNDLE, args }));
}

function request(...dnsNames: readonly string[]): Promise<string> {
  return createCsr(cluster, { signerName, dnsNames, usages, commonName: '', organizations: [] });
}

/** By Pebble's root alone, as a server's certificate for each of the names. */
async function assertVerifies(chain: string, ...hosts: readonly string[]): Promise<void> {
  const file = (name: string): string => join(directory, `${hosts[0] ?? ''}.${name}`);
  writeFileSync(file('root.pem'), await pebble.manage('/roots/0'));
  writeFileSync(file('chain.pem'), chain);
  for (const host of hosts) {
    const said = execFileSync('openssl', [
      ...['verify', '-no-CApath', '-CAfile', file('root.pem'), '-untrusted', file('chain.pem')],
      ...['-purpose', 'sslserver', '-verify_hostname', host, file('chain.pem')],
    ]);
    assert.match(said.toString(), /: OK$/m);
  }
}

async function challengeOf(dnsName: string): Promise<Challenge | undefined> {
  const { stdout } = await cluster.kubectl([
    ...['get', 'challenges.acme.countersign.dev', '-A', '-o', 'json'],
  ]);
  const { items } = JSON.parse(stdout) as { readonly items: readonly Challenge[] };
  return items.find(({ spec }) => spec.dnsName === dnsName);
}

function noChallengesLeft(dnsName: string): Promise<unknown> {
  return until(
    'its Challenges are gone',
    SOON,
    async () => (await challengeOf(dnsName)) === undefined,
  );
}

describe('a request gets its certificate', { concurrency: true }, () => {
  test('by HTTP-01: acme-responder serves the file, acme sees it there, and Pebble does', async () => {
    const name = await request('www.shop.example');
    await assertVerifies(await waitForCertificate(cluster, name), 'www.shop.example');
    await noChallengesLeft('www.shop.example');
  });

  test('by DNS-01: a wildcard and its base name, two values at one name of BIND, which are removed again', async () => {
    const name = await request('wild.shop.example', '*.wild.shop.example');
    const chain = await waitForCertificate(cluster, name);
    await assertVerifies(chain, 'wild.shop.example', 'any.wild.shop.example');
    await noChallengesLeft('wild.shop.example');
    assert.deepEqual(await bind.txt('_acme-challenge.wild.shop.example'), []);
  });

  test('by dns-persist-01: it waits for the record that the status prints, and nobody writes or removes it but its owner', async () => {
    const record = '_validation-persist.stays.shop.example';
    const name = await request('*.stays.shop.example');
    const waiting = await until('it waits', SOON, async () => {
      const challenge = await challengeOf('stays.shop.example');
      return challenge?.status.reason === 'NotPropagated' ? challenge : undefined;
    });
    const { stdout } = await cluster.kubectl(['get', 'acmeclustersigner/public', '-o', 'json']);
    const { status } = JSON.parse(stdout) as AcmeSigner;
    const [line = '', ...others] = status.persistRecords ?? [];
    assert.deepEqual(others, []);
    assert.ok(waiting.status.message?.endsWith(`Write this record: ${line}`), line);
    const [, value = ''] = line.split('"');
    assert.equal(
      line,
      `${record}. IN TXT "pebble.letsencrypt.org; accounturi=${status.account?.url}; policy=wildcard"`,
    );
    await writeTxt(record, value);
    await assertVerifies(await waitForCertificate(cluster, name), 'any.stays.shop.example');
    await noChallengesLeft('stays.shop.example');
    assert.deepEqual(await bind.txt(record), [value]);
  });
});

/** As the owner of the zone does. */
async function writeTxt(name: string, value: string): Promise<void> {
  const update = encodeUpdate({ zone: 'shop.example', name, value, change: 'add' });
  const key = { ...KEY, secret: Buffer.from(KEY.secret, 'base64') };
  const { message } = signMessage(update, key, Math.floor(Date.now() / 1000));
  const address = parseDnsAddress(bind.at);
  assert.ok(address);
  await sendByTcp(address, message, AbortSignal.timeout(SOON));
  assert.deepEqual(await bind.txt(name), [value]);
}

test('no process logged an error, and no log line has a credential', () => {
  for (const { name, log } of components) {
    const errors = log.filter(({ level }) => level === 'error' || level === 50);
    assert.deepEqual(errors, [], name);
    assert.ok(!JSON.stringify(log).includes(KEY.secret), name);
  }
});
