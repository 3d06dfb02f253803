// SPDX-License-Identifier: Apache-2.0
/**
 * CAs that replace each other while leaves are issued and the API server asks a server that has the
 * newest.
 */
import { X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import type { Client } from '#kube/client/client.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { signing } from '../integration/trust/rotation.ts';
import { connect } from '../ca/rotation/cluster/stand.ts';
import { applyText } from '../support/cluster/apply.ts';
import { getSigner } from '../support/cluster/fixture.ts';
import { allowRequesters } from '../support/cluster/requests/csr.ts';
import { AskedServer, HOST, ask, askedObjects } from './asked.ts';
import { judge } from './handshakes.ts';
import { Leaves } from './leaves.ts';
import { Readers } from './readers.ts';

const WAIT_MS = 240_000;
/** Of the new CA, before the next rotation begins. */
const LEAVES_OF_EACH = 5;

/** Whose CA is replaced, and who reads its anchors. */
export interface Scene {
  readonly cluster: Cluster;
  /** Name of the ClusterSigner. */
  readonly signer: string;
  readonly signerName: string;
  /** Name of the ConfigMaps. */
  readonly configMap: string;
  readonly caBundles: readonly CaBundleTarget[];
}

/** What happened. */
export interface Outcome {
  /**
   * Whom the leaves were refused by, what the API server could not ask, and requests that were not
   * answered.
   */
  readonly faults: readonly string[];
  readonly leaves: number;
  /** CAs that signed them. */
  readonly issuers: number;
  readonly targets: number;
  readonly handshakes: number;
  /** Handshakes of the API server. */
  readonly asked: number;
}

/** Whoever serves `HOST` may ask for a certificate: a rule of the signer. */
export const REQUESTS = {
  copy: ['dnsNames'],
  rules: [
    {
      name: 'served',
      when: "request.username == 'jane'",
      allow: { dnsNames: `self == '${HOST}'`, usages: ['digital signature', 'server auth'] },
    },
  ],
};

/** Replaces the CA so many times under load, and judges every leaf. */
export async function rotateUnderLoad(scene: Scene, rotations: number): Promise<Outcome> {
  const { cluster, signer, signerName, configMap, caBundles } = scene;
  const admin = await connect(cluster);
  const requester = await connect(cluster, { user: 'jane', groups: ['dev'] });
  const [server, leaves, readers] = [new AskedServer(), new Leaves(), new Readers()];
  try {
    await allowRequesters(cluster);
    const requests = JSON.stringify({ spec: { requests: REQUESTS } });
    await cluster.kubectl(['patch', 'clustersigner', signer, '--type=merge', '-p', requests]);
    await server.start();
    await applyText(cluster, askedObjects(server.port, signerName));
    await leaves.start({ admin, requester }, signerName, (leaf) => {
      server.present(leaf);
    });
    await until('the API server can ask both', WAIT_MS, async () => {
      const [failure] = await ask(admin);
      if (failure !== undefined) throw new Error(failure);
      return true;
    });
    await readers.start(admin, configMap, caBundles);
    const asking = new Asking(admin);
    for (let done = 0; done < rotations; done += 1) await rotate(scene, leaves);
    await asking.stop();
    await leaves.stop();
    const verdict = await judge(leaves.delivered, readers);
    return {
      faults: [...verdict.faults, ...asking.failures, ...leaves.refusals],
      leaves: leaves.delivered.length,
      issuers: issuersOf(leaves).size,
      targets: readers.versions.size,
      handshakes: verdict.handshakes,
      asked: server.handshakes,
    };
  } finally {
    await leaves.stop();
    await readers.stop();
    await server.stop();
    await Promise.all([admin.close(), requester.close()]);
  }
}

/** One call after the other, until it is stopped. */
class Asking {
  readonly failures: string[] = [];
  readonly #stopped = new AbortController();
  readonly #ended: Promise<void>;

  constructor(client: Client) {
    this.#ended = this.#run(client);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
  }

  async #run(client: Client): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.failures.push(...(await ask(client)));
      await sleep(200, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function rotate({ cluster, signer }: Scene, leaves: Leaves): Promise<void> {
  const before = signing(await getSigner(cluster, signer));
  const known = issuersOf(leaves);
  const at = `countersign.dev/rotate-at=${new Date().toISOString()}`;
  await cluster.kubectl(['annotate', 'clustersigner', signer, '--overwrite', at]);
  await until('another CA signs', WAIT_MS, async () => {
    const now = signing(await getSigner(cluster, signer));
    return now !== '' && now !== before;
  });
  await until('leaves are of the new CA', WAIT_MS, () => {
    const fresh = leaves.delivered.filter(({ cert }) => !known.has(issuerOf(cert)));
    return fresh.length >= LEAVES_OF_EACH;
  });
}

/** The names of their CAs: each CA has a name of its own. */
function issuersOf({ delivered }: Leaves): ReadonlySet<string> {
  return new Set(delivered.map(({ cert }) => issuerOf(cert)));
}

function issuerOf(cert: string): string {
  return new X509Certificate(cert).issuer;
}
