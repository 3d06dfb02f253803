// SPDX-License-Identifier: Apache-2.0
/**
 * What tests of the whole way share: one cluster, one DNS server, the ACME servers, and each
 * component as a process.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Challenge } from '#api/acme/challenge.ts';
import { allowApproval } from '../../certmanager/manifests.ts';
import { startCertManager, type CertManager } from '../../certmanager/start.ts';
import { startCluster, type Cluster } from '../../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../../cluster/directory.ts';
import { freePort } from '../../cluster/ports.ts';
import { until } from '../../cluster/until.ts';
import { startBind } from '../../dns/server.ts';
import { prepareStepCa } from '../../stepca/server.ts';
import { installAcme } from '../../support/acme/installation.ts';
import { apply } from '../../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../../support/cluster/component-process.ts';
import { componentKubeconfig } from '../../support/cluster/installation.ts';
import { allowRequesters, createCsr } from '../../support/cluster/requests/csr.ts';
import { startPebble } from '../pebble.ts';
import { ACCOUNTS, EXTERNAL_KEY, KEY, signersOf, USAGES, type Servers } from './signers.ts';

const BUNDLE = [process.execPath, join(import.meta.dirname, '../../../dist/countersign.mjs')];
const DNS_NAMESPACE = 'countersign-dns';
export const SOON = 60_000;

export interface Stand extends Servers {
  readonly directory: string;
  readonly cluster: Cluster;
  readonly components: readonly ComponentProcess[];
  stop(): Promise<void>;
}

/** Pebble and step-ca look for files of HTTP-01 at one port, where acme-responder listens. */
export async function startStand(): Promise<Stand> {
  const directory = makeDirectory();
  const room = (name: string): string => {
    mkdirSync(join(directory, name));
    return join(directory, name);
  };
  const step = await prepareStepCa(room('step-ca'));
  const bind = await startBind({
    directory: room('dns'),
    address: '127.0.0.1',
    port: await freePort(),
    zones: { 'shop.example': ['@ NS ns1', 'ns1 A 127.0.0.1', 'www A 127.0.0.1'] },
    updates: { zones: ['shop.example'], key: KEY },
  });
  const settings = { httpPort: step.httpPort, resolver: bind.at };
  const [pebble, bound] = await Promise.all([
    startPebble(room('pebble'), { settings }),
    startPebble(room('bound'), { settings: { ...settings, ...EXTERNAL_KEY } }),
    step.start(),
  ]);
  const cluster = await startCluster({ version: '1.37', nodes: 0 });
  const servers = { bind, pebble, bound, step };
  const components: ComponentProcess[] = [];
  let certManager: CertManager | undefined;
  const stop = async (): Promise<void> => {
    await Promise.all(components.map((each) => each.stop()));
    await certManager?.stop();
    await cluster.stop();
    await Promise.all([pebble.stop(), bound.stop(), step.stop(), bind.stop()]);
    removeDirectory(directory);
  };
  try {
    await install(cluster, servers);
    // Set before it asks: who was refused once waits long.
    await allowApproval(cluster, 'acmeclustersigners.acme.countersign.dev/public');
    certManager = await startCertManager(cluster);
    const resolver = `--resolver=${bind.at}`;
    const port = `${step.httpPort}`;
    const http01 = ['--self-check-network=127.0.0.0/8', `--self-check-ports=${port},${port}`];
    components.push(
      ...(await Promise.all([
        start(cluster, 'approver'),
        start(cluster, 'acme', resolver, ...http01),
        start(cluster, 'acme-responder', '--no-leases', `--listen-challenges=127.0.0.1:${port}`),
        start(cluster, 'acme-solver', resolver),
      ])),
    );
    return { ...servers, directory, cluster, components, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The manifests as they are shipped, the signers, and their account keys by the command that makes
 * them.
 */
async function install(cluster: Cluster, servers: Servers): Promise<void> {
  // The second is where tests of cert-manager have their Certificates.
  for (const name of [DNS_NAMESPACE, 'team-a'])
    await cluster.kubectl(['create', 'namespace', name]);
  await installAcme(cluster, {
    signers: ACCOUNTS.map((name) => `example.com/${name}`),
    accounts: [...ACCOUNTS, 'bound-external'],
    solverSecrets: [{ namespace: DNS_NAMESPACE, name: 'tsig' }],
  });
  await allowRequesters(cluster);
  const tsig = `--from-literal=tsig=${KEY.secret}`;
  await cluster.kubectl(['create', 'secret', 'generic', 'tsig', '-n', DNS_NAMESPACE, tsig]);
  await apply(cluster, ...signersOf(servers));
  const [node = '', main = ''] = BUNDLE;
  for (const name of ACCOUNTS)
    execFileSync(node, [main, 'account-key', '--kubeconfig', cluster.kubeconfig, name]);
}

async function start(
  cluster: Cluster,
  name: 'approver' | 'acme' | 'acme-responder' | 'acme-solver',
  ...args: readonly string[]
): Promise<ComponentProcess> {
  const kubeconfig = await componentKubeconfig(cluster, name);
  return startComponent({ name, kubeconfig, program: BUNDLE, args });
}

/** What somebody asks a signer for by a CertificateSigningRequest. @returns its name */
export function request(
  { cluster }: Stand,
  names: readonly string[],
  signer = 'public',
): Promise<string> {
  return createCsr(cluster, {
    signerName: `example.com/${signer}`,
    dnsNames: names.filter((each) => isIP(each) === 0),
    ipAddresses: names.filter((each) => isIP(each) !== 0),
    usages: USAGES,
    commonName: '',
    organizations: [],
  });
}

/** By a root alone, as a server's certificate for each of the hosts. */
export function assertVerifies(
  { directory }: Stand,
  root: string,
  chain: string,
  ...hosts: readonly string[]
): void {
  const file = (name: string): string => join(directory, `${hosts[0] ?? ''}.${name}`);
  writeFileSync(file('root.pem'), root);
  writeFileSync(file('chain.pem'), chain);
  for (const host of hosts) {
    const said = execFileSync('openssl', [
      'verify',
      '-no-CApath',
      '-CAfile',
      file('root.pem'),
      '-untrusted',
      file('chain.pem'),
      '-purpose',
      'sslserver',
      isIP(host) === 0 ? '-verify_hostname' : '-verify_ip',
      host,
      file('chain.pem'),
    ]);
    assert.match(said.toString(), /: OK$/m);
  }
}

export async function challengeOf(
  { cluster }: Stand,
  dnsName: string,
): Promise<Challenge | undefined> {
  const { stdout } = await cluster.kubectl([
    'get',
    'challenges.acme.countersign.dev',
    '-A',
    '-o',
    'json',
  ]);
  const { items } = JSON.parse(stdout) as { readonly items: readonly Challenge[] };
  return items.find(({ spec }) => spec.dnsName === dnsName);
}

export function noChallengesLeft(stand: Stand, dnsName: string): Promise<unknown> {
  return until(
    'its Challenges are gone',
    SOON,
    async () => (await challengeOf(stand, dnsName)) === undefined,
  );
}
