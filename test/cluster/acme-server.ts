// SPDX-License-Identifier: Apache-2.0
/**
 * An ACME server on a cluster of real pods: Pebble in the network of the pods' host, and what a
 * person applies to use it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { CHALLENGE_SERVICE } from '#api/acme/route-names.ts';
import { startPebble, type Pebble } from '../acme/pebble.ts';
import { freePort } from './ports.ts';
import { HOST_ADDRESS } from './real-pods/addresses.ts';
import type { Front } from './real-pods/types.ts';
import type { Cluster } from './types.ts';

/** Those that RFC 2606 reserves for examples, and the how-to pages use. */
const DOMAINS = ['example', 'example.com'];
/** Of nodes and pods, the same in podhost/bridge.go: no part of the Internet. */
const NETWORK = '10.244.0.0/16';
const SIGNER_NAME = 'example.com/public';
const ACCOUNT_SECRET = 'public-account';
const USAGES = ['digital signature', 'key encipherment', 'server auth'];

/** What a cluster must be started with. */
export interface AcmePlan {
  readonly front: Front;
  readonly port: number;
  readonly managementPort: number;
}

/** What is there, and the files of it. */
export interface AcmeServer {
  /** For pods, and for AcmeClusterSigners. */
  readonly directory: string;
  /** The same on 127.0.0.1. */
  readonly localDirectory: string;
  /** Where its files are. */
  readonly room: string;
  /** PEM: the anchor of its HTTPS. */
  readonly caFile: string;
  /** PEM: the root of what it issues. */
  readonly rootFile: string;
  /** Values of the chart that the components of ACME need here. */
  readonly valuesFile: string;
  /** An AcmeClusterSigner, as YAML. */
  readonly signer: string;
  readonly stop: () => Promise<void>;
}

/** Names of the examples lead to `acme-responder`, wherever its pods are. */
export async function planAcmeServer(): Promise<AcmePlan> {
  const namespace = 'countersign-system';
  const front = { domains: DOMAINS, namespace, service: CHALLENGE_SERVICE, port: 'challenges' };
  return { front, port: await freePort(), managementPort: await freePort() };
}

export async function startAcmeServer(cluster: Cluster, plan: AcmePlan): Promise<AcmeServer> {
  const room = join(cluster.directory, 'acme');
  mkdirSync(room);
  const { port, managementPort } = plan;
  const host = cluster.podHost;
  const pebble = await startPebble(room, {
    network: {
      within: (command) => host.within(command),
      address: HOST_ADDRESS,
      port,
      managementPort,
    },
    settings: { httpPort: 80, resolver: `${HOST_ADDRESS}:53` },
    log: join(cluster.directory, 'pebble.log'),
  });
  const write = (name: string, text: string): string => {
    writeFileSync(join(room, name), text);
    return join(room, name);
  };
  return {
    directory: pebble.directory,
    localDirectory: `https://127.0.0.1:${port}/dir`,
    room,
    caFile: write('ca.pem', pebble.ca),
    rootFile: write('root.pem', await pebble.manage('/roots/0')),
    valuesFile: write('values.yaml', stringify(values())),
    signer: stringify(signerOf(pebble), { aliasDuplicateObjects: false, lineWidth: 0 }),
    stop: pebble.stop,
  };
}

function values(): object {
  return {
    components: {
      acme: { enabled: true, extraArgs: [`--self-check-network=${NETWORK}`] },
      'acme-responder': { enabled: true },
      'acme-solver': { enabled: true },
    },
    acme: { signers: [{ name: SIGNER_NAME, accountSecret: ACCOUNT_SECRET }] },
  };
}

function signerOf({ directory, ca }: Pebble): object {
  const names = DOMAINS.map((domain) => `self.endsWith('.${domain}')`).join(' || ');
  const allow = { commonName: names, dnsNames: names, usages: USAGES };
  return {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'AcmeClusterSigner',
    metadata: { name: 'public' },
    spec: {
      signerName: SIGNER_NAME,
      acme: {
        server: directory,
        caBundle: ca,
        termsOfServiceAgreed: true,
        accountKey: { secret: { name: ACCOUNT_SECRET } },
        solvers: [{ name: 'web', http01: {} }],
      },
      profile: { usages: USAGES },
      requests: { rules: [{ name: 'examples', when: 'true', allow }] },
      certificateRequests: { rules: [{ name: 'examples', when: 'true', allow }] },
    },
  };
}
