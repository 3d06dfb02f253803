// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { until } from '../../test/cluster/until.ts';
import { createPod, createTeam, filesOf } from '../../test/support/cluster/pods.ts';
import { startServer, talk, type Identity } from '../peers/talk.ts';
import type { Tell } from '../story.ts';

const SIGNER = 'example.com/workload';
export const TEAM = 'team-a';
const WAIT_MS = 10_000;

/** The SPIFFE ID that the ClusterSigner gives a ServiceAccount. */
function spiffe(serviceAccount: string): string {
  return `spiffe://cluster.local/ns/${TEAM}/sa/${serviceAccount}`;
}

/** Name → files as the kubelets wrote them. */
export type Pods = Readonly<Record<'web' | 'api' | 'batch', Identity>>;

/** Three pods on two nodes get their credentials through real projections. */
export async function credentials(cluster: Cluster, tell: Tell): Promise<Pods> {
  await createTeam(cluster, TEAM, ['web', 'api', 'batch']);
  const wanted = [
    { name: 'web', node: 'node-1', keyType: 'ED25519' },
    { name: 'api', node: 'node-2', keyType: 'ECDSAP256' },
    { name: 'batch', node: 'node-1', keyType: 'ECDSAP256' },
  ] as const;
  await Promise.all(
    wanted.map((each) =>
      createPod(cluster, {
        ...each,
        namespace: TEAM,
        serviceAccount: each.name,
        signerName: SIGNER,
      }),
    ),
  );
  const pods: Record<string, Identity> = {};
  for (const { name, keyType } of wanted) {
    const files = await filesOf(cluster, { namespace: TEAM, name });
    const certificate = new X509Certificate(readFileSync(files.credentials));
    assert.equal(certificate.subjectAltName, `URI:${spiffe(name)}`);
    tell(
      `${name.padEnd(5)} on ${files.node}: ${keyType.padEnd(9)} ${spiffe(name)} until ${certificate.validTo}`,
    );
    pods[name] = files;
  }
  return pods as unknown as Pods;
}

/** Processes that read the very files speak mutual TLS, each seeing the other's identity. */
export async function mutualTls(pods: Pods, stranger: Identity, tell: Tell): Promise<void> {
  const server = await startServer(pods.web);
  try {
    const api = await talk(server.port, pods.api, spiffe('web'));
    assert.deepEqual(api, { server: `URI:${spiffe('web')}`, heard: `hello, URI:${spiffe('api')}` });
    tell(`api sees ${api.server}; web answers "${api.heard}"`);

    const batch = await talk(server.port, pods.batch, spiffe('web'));
    assert.equal(batch.heard, `hello, URI:${spiffe('batch')}`);
    tell(`batch is somebody else to web: "${batch.heard}"`);

    const wrong = await talk(server.port, pods.api, spiffe('batch'));
    assert.match(wrong.refused ?? '', /the server is/);
    tell(`api wants to speak to batch and notices: ${wrong.refused ?? ''}`);

    const foreign = await talk(server.port, stranger, spiffe('web'));
    assert.equal(foreign.heard, undefined);
    const refusal = await until('the server tells of it', WAIT_MS, () =>
      server.seen.find(({ refused }) => refused !== undefined),
    );
    tell(`a certificate of another CA is refused by the server: ${refusal.refused ?? ''}`);
  } finally {
    server.stop();
  }
}
