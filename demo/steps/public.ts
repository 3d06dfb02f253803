// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO } from '../../build/demo-installation.ts';
import { renderRbac } from '#install/render.ts';
import { startPebble, type Pebble } from '../../test/acme/pebble.ts';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { freePort } from '../../test/cluster/ports.ts';
import { until } from '../../test/cluster/until.ts';
import { ACME_COMPONENTS, applyAcmeKinds } from '../../test/support/acme/installation.ts';
import {
  acmeClusterSigner,
  SIGNER_NAME,
  waitForAcmeSigner,
} from '../../test/support/acme/signer.ts';
import { apply, applyText } from '../../test/support/cluster/apply.ts';
import {
  startComponent,
  type ComponentProcess,
} from '../../test/support/cluster/component-process.ts';
import { countersign } from '../../test/support/cluster/countersign.ts';
import { componentKubeconfig, KEYS_NAMESPACE } from '../../test/support/cluster/installation.ts';
import { createCsr, waitForCertificate } from '../../test/support/cluster/requests/csr.ts';
import type { Tell } from '../story.ts';

const HOST = 'www.shop.example';
const USAGES = ['digital signature', 'server auth'];
const SEEN_MS = 60_000;

/**
 * From nothing to a certificate of an ACME server on this machine, which looks for the file of
 * HTTP-01 as Let's Encrypt does. The components of ACME are processes, wherever the others are.
 */
export async function publicCertificate(cluster: Cluster, tell: Tell): Promise<void> {
  const directory = mkdtempSync(join(cluster.directory, 'acme-'));
  const port = await freePort();
  const pebble = await startPebble(directory, { settings: { httpPort: port } });
  const components: ComponentProcess[] = [];
  try {
    tell(`an ACME server of Let's Encrypt's own making, Pebble: ${pebble.directory}`);
    await install(cluster);
    for (const name of ACME_COMPONENTS) components.push(await start(cluster, name, pebble, port));
    for (const { name, pid } of components) tell(`${name.padEnd(14)} process ${pid}`);
    await createSigner(cluster, pebble, tell);
    const chain = await order(cluster, tell);
    writeFileSync(join(directory, 'root.pem'), await pebble.manage('/roots/0'));
    writeFileSync(join(directory, 'chain.pem'), chain);
    const files = ['-CAfile', 'root.pem', '-untrusted', 'chain.pem', 'chain.pem'];
    const verify = ['verify', '-no-CApath', '-purpose', 'sslserver', '-verify_hostname', HOST];
    const said = execFileSync('openssl', [...verify, ...files], { cwd: directory });
    tell(`openssl verify -verify_hostname ${HOST}: ${said.toString().trim()}`);
  } finally {
    await Promise.all(components.map((each) => each.stop()));
    await pebble.stop();
  }
}

/** The kinds, and the roles of three components more. */
async function install(cluster: Cluster): Promise<void> {
  // countersign install has applied them, and another field manager would be refused.
  const crd = 'acmeclustersigners.acme.countersign.dev';
  const { code } = await cluster.kubectl(['get', 'crd', crd], { allowFailure: true });
  if (code !== 0) await applyAcmeKinds(cluster);
  const acme = {
    signers: [SIGNER_NAME],
    secrets: [{ namespace: KEYS_NAMESPACE, name: 'account' }],
  };
  const roles = renderRbac({ ...DEMO, acme, optionalComponents: ACME_COMPONENTS });
  const texts = ACME_COMPONENTS.map((name) => roles.get(`${name}.yaml`) ?? '');
  await applyText(cluster, texts.join('\n---\n'));
}

async function start(
  cluster: Cluster,
  name: (typeof ACME_COMPONENTS)[number],
  pebble: Pebble,
  port: number,
): Promise<ComponentProcess> {
  const resolver = `--resolver=${pebble.dns}`;
  const args = {
    acme: [resolver, '--self-check-network=127.0.0.0/8', `--self-check-ports=${port},${port}`],
    'acme-responder': ['--no-leases', `--listen-challenges=127.0.0.1:${port}`],
    'acme-solver': [resolver],
  }[name];
  const kubeconfig = await componentKubeconfig(cluster, name);
  return startComponent({ name, kubeconfig, args, logs: cluster.directory });
}

/** The signer, and a key for its account. */
async function createSigner(cluster: Cluster, pebble: Pebble, tell: Tell): Promise<void> {
  const allow = { dnsNames: "self.endsWith('.shop.example')", usages: USAGES };
  const rules = [{ name: 'shops', when: "'dev' in request.groups", allow }];
  const spec = { profile: { usages: USAGES }, requests: { rules } };
  const solvers = [{ name: 'http', http01: {} }];
  await apply(cluster, acmeClusterSigner({ server: pebble, solvers, spec }));
  const made = await countersign(['account-key', '--kubeconfig', cluster.kubeconfig, 'public']);
  assert.equal(made.code, 0, made.stderr);
  await waitForAcmeSigner(cluster);
  tell((await cluster.kubectl(['get', 'acmeclustersigners'])).stdout);
}

/** Somebody of group dev asks for a name, and a person approves. @returns the chain */
async function order(cluster: Cluster, tell: Tell): Promise<string> {
  const name = await createCsr(cluster, {
    name: 'www',
    signerName: SIGNER_NAME,
    usages: USAGES,
    dnsNames: [HOST],
    commonName: '',
    organizations: [],
  });
  await cluster.kubectl(['certificate', 'approve', name]);
  const kinds = 'orders.acme.countersign.dev,challenges.acme.countersign.dev';
  await until('its name is being proved', SEEN_MS, async () => {
    const { stdout } = await cluster.kubectl(['get', kinds, '-A', '--no-headers']);
    const isUnderWay = stdout.includes('challenge.acme.countersign.dev/');
    if (isUnderWay) tell(stdout);
    // Whoever is faster than kubectl has its certificate already.
    return isUnderWay || stdout.includes('valid');
  });
  const chain = await waitForCertificate(cluster, name);
  tell((await cluster.kubectl(['get', 'csr', name])).stdout);
  return chain;
}
