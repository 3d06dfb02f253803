// SPDX-License-Identifier: Apache-2.0
/** What notifier tells of requests that ACME signers answer. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CloudEvent } from 'cloudevents';
import type { Cluster } from '../../cluster/cluster.ts';
import { established } from '../../cluster/established.ts';
import { acmeClusterSigner, SIGNER_NAME } from '../../support/acme/signer.ts';
import { apply } from '../../support/cluster/apply.ts';
import { createCsr } from '../../support/cluster/requests/csr.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const CRDS = join(import.meta.dirname, '../../../deploy/crds/acme');

/** What the tests go by. */
export interface AcmeStage {
  readonly cluster: Cluster;
  /** The event of this id, once it was taken. */
  readonly told: (id: string) => Promise<CloudEvent<unknown>>;
  /** Until the process knows all signers that there are. */
  readonly restart: () => Promise<void>;
}

/** Declares the test. */
export function requestsOfAcmeAreTold(stage: () => AcmeStage): void {
  test('a request of an ACME signer is notified when issued, denied or failed', async () => {
    const { cluster, told, restart } = stage();
    const { cert } = await tlsCertificate('acme');
    await cluster.kubectl(['apply', '-f', CRDS]);
    await established(cluster, 'crd/acmeclustersigners.acme.countersign.dev');
    const server = { directory: 'https://acme.test.example/directory', ca: cert };
    await apply(cluster, acmeClusterSigner({ server, solvers: [{ name: 'http', http01: {} }] }));
    await restart();
    // As `acme` writes it.
    const write = async (name: string, status: object): Promise<void> => {
      const patch = ['patch', 'csr', name, '--subresource=status', '--type=merge', '-p'];
      await cluster.kubectl([...patch, JSON.stringify({ status })]);
    };
    const made = async (verb: 'approve' | 'deny'): Promise<readonly [string, string]> => {
      const name = await createCsr(cluster, { signerName: SIGNER_NAME });
      await cluster.kubectl(['certificate', verb, name]);
      const uid = ['get', 'csr', name, '-o', 'jsonpath={.metadata.uid}'];
      return [name, (await cluster.kubectl(uid)).stdout];
    };
    const [, denied] = await made('deny');
    const { data } = await told(`${denied}:denied`);
    assert.equal((data as { readonly signerName: string }).signerName, SIGNER_NAME);
    const [first, issued] = await made('approve');
    await write(first, { certificate: Buffer.from(cert).toString('base64') });
    assert.equal((await told(`${issued}:issued`)).type, 'dev.countersign.certificate.issued');
    const [second, failed] = await made('approve');
    const condition = { type: 'Failed', status: 'True', reason: 'OrderFailed', message: 'no' };
    const { stdout } = await cluster.kubectl(['get', 'csr', second, '-o', 'json']);
    const { status } = JSON.parse(stdout) as { readonly status: { conditions: object[] } };
    await write(second, { conditions: [...status.conditions, condition] });
    const event = await told(`${failed}:failed`);
    assert.equal((event.data as { readonly reason: string }).reason, 'OrderFailed');
  });
}
