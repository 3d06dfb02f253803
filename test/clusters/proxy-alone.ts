// SPDX-License-Identifier: Apache-2.0
/**
 * Servers that pods reach by a proxy alone: the network of the pods' host has no route outside, and
 * its DNS does not know their names.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startPebble } from '../acme/pebble.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { HOST_ADDRESS } from '../cluster/real-pods/addresses.ts';
import { mapImages } from '../image/mapped.ts';
import { COUNTERSIGN } from '../real-pods/shipped.ts';
import {
  SIGNER_NAME,
  accountSecret,
  acmeClusterSigner,
  waitForAcmeSigner,
} from '../support/acme/signer.ts';
import { apply } from '../support/cluster/apply.ts';
import { createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { startProxy } from '../support/egress/proxy.ts';
import { startOutsideDns } from './outside-dns.ts';

const PORT = '3128';
const ACME = 'acme.example';
const ACME_DNS = 'acme-dns.example';
const RESOLVER = 'dns.example';
const RESOLVER_URL = `https://${RESOLVER}/dns-query`;
const DNS_NAME = 'www.example';
const CA = '/etc/outside-ca.pem';
/** The administrator makes its namespace. */
export const CREDENTIALS = { namespace: 'countersign-dns', name: 'accounts' };
const USAGES = ['digital signature', 'key encipherment', 'server auth'];

const extraEnv = [{ name: 'HTTPS_PROXY', value: `http://${HOST_ADDRESS}:${PORT}` }];

/** Values with the proxy for each component that calls a server outside. */
export const BY_PROXY = {
  acme: {
    signers: [{ name: SIGNER_NAME, accountSecret: 'account' }],
    solverSecrets: [CREDENTIALS],
  },
  components: {
    acme: { enabled: true, replicas: 1, extraEnv },
    'acme-solver': {
      enabled: true,
      replicas: 1,
      extraEnv,
      // It looks for the CNAME to acme-dns.
      extraArgs: [`--resolver=${RESOLVER_URL}`],
    },
  },
};

/** The servers outside, and the proxy that leads to them. */
export interface Outside {
  /** Settings of the ACME server for acmeClusterSigner. */
  readonly server: { readonly directory: string; readonly ca: string };
  /** Domain name at which acme-dns has the proofs. */
  readonly fulldomain: string;
  /** Proofs that acme-dns received, and targets of the proxy, since the last call. */
  readonly takeCalls: () => {
    readonly proofs: readonly string[];
    readonly targets: readonly string[];
  };
  readonly stop: () => Promise<void>;
}

/** Starts the servers outside, and the proxy that pods reach at {@link HOST_ADDRESS}. */
export async function startOutside(cluster: Cluster): Promise<Outside> {
  const room = join(cluster.directory, 'outside');
  mkdirSync(room);
  const dns = await startOutsideDns([ACME_DNS, RESOLVER], DNS_NAME);
  writeFileSync(join(room, 'ca.pem'), dns.ca);
  await trustInImage(cluster, join(room, 'ca.pem'));
  // Pebble asks its own DNS, which has no proof.
  const env = { PEBBLE_VA_ALWAYS_VALID: '1' };
  const pebble = await startPebble(room, { names: [ACME], env });
  const ports: Readonly<Record<string, number>> = {
    [`${ACME}:443`]: Number(new URL(pebble.directory).port),
    [`${ACME_DNS}:443`]: dns.port,
    [`${RESOLVER}:443`]: dns.port,
  };
  const socket = join(room, 'proxy.sock');
  const proxy = await startProxy((target) => ports[target], { path: socket });
  const relay = await startRelay(cluster, socket);
  return {
    server: { directory: `https://${ACME}/dir`, ca: pebble.ca },
    fulldomain: dns.fulldomain,
    takeCalls: () => {
      const called = proxy.requests.splice(0).map(({ url = '' }) => url);
      return { proofs: dns.updates.splice(0), targets: [...new Set(called)].sort() };
    },
    stop: async () => {
      await relay.stop();
      await proxy.stop();
      await pebble.stop();
      await dns.stop();
    },
  };
}

/** Asserts that a person gets a certificate, and that each call goes through the proxy. */
export async function issuesByProxy(cluster: Cluster, outside: Outside): Promise<void> {
  outside.takeCalls();
  const { fulldomain } = outside;
  const account = { username: 'user', password: 'password', subdomain: 'd420', fulldomain };
  const allow = { dnsNames: "self.endsWith('.example')", usages: USAGES };
  const acmeDNS = { server: `https://${ACME_DNS}`, secret: { name: CREDENTIALS.name } };
  await apply(
    cluster,
    await accountSecret(),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: CREDENTIALS,
      stringData: { accounts: JSON.stringify({ [DNS_NAME]: account }) },
    },
    acmeClusterSigner({
      server: outside.server,
      solvers: [{ name: 'dns', selfCheck: { nameservers: [RESOLVER_URL] }, acmeDNS }],
      spec: {
        profile: { usages: USAGES },
        requests: { rules: [{ name: 'examples', when: 'true', allow }] },
      },
    }),
  );
  await waitForAcmeSigner(cluster);
  const csr = await createCsr(cluster, {
    signerName: SIGNER_NAME,
    dnsNames: [DNS_NAME],
    usages: USAGES,
    commonName: '',
    organizations: [],
  });
  const leaf = new X509Certificate(await waitForCertificate(cluster, csr));
  assert.equal(leaf.subjectAltName, `DNS:${DNS_NAME}`);
  const { proofs, targets } = outside.takeCalls();
  assert.equal(proofs.length, 1);
  assert.deepEqual(targets, [`${ACME_DNS}:443`, `${ACME}:443`, `${RESOLVER}:443`]);
}

/** Puts the CA of the servers outside into the image of Countersign, as a company does. */
async function trustInImage(cluster: Cluster, file: string): Promise<void> {
  const directory = join(cluster.directory, 'outside', 'image');
  const { countersign } = await mapImages(directory, { [CA]: file });
  const env = [...(countersign.env ?? []), `NODE_EXTRA_CA_CERTS=${CA}`];
  cluster.podHost.addImages({ [COUNTERSIGN]: { ...countersign, env } });
}

async function startRelay(cluster: Cluster, socket: string): Promise<{ stop(): Promise<void> }> {
  const file = join(import.meta.dirname, '../support/egress/relay.ts');
  const command = [process.execPath, file, HOST_ADDRESS, PORT, socket] as const;
  const [program, ...args] = cluster.podHost.within(command);
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    exited.then(() => Promise.reject(new Error('the relay ended'))),
  ]);
  return {
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
