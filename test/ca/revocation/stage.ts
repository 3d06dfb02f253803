// SPDX-License-Identifier: Apache-2.0
/** A cluster whose signers have CRLs that a ledger serves, and whose components record in it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyCrds } from '../../certmanager/crds.ts';
import { startCluster, type Cluster } from '../../cluster/cluster.ts';
import { applyLedgerApiService, LedgerStand } from '../../integration/ledger/stand.ts';
import { apply } from '../../support/cluster/apply.ts';
import type { ComponentProcess } from '../../support/cluster/component-process.ts';
import { applySigner, example, waitForUsableCa } from '../../support/cluster/fixture.ts';
import { frontProxyFlags } from '../../support/cluster/front-proxy.ts';
import {
  applyManifests,
  grantClientCa,
  startComponents,
  SYSTEM_NAMESPACE,
} from '../../support/cluster/installation.ts';
import { createTeam } from '../../support/cluster/pods.ts';
import { allowCertificateRequesters } from '../../support/cluster/requests/certificate-request.ts';
import { allowRequesters } from '../../support/cluster/requests/csr.ts';

const PATIENCE = 120_000;
const SIGNERS = ['workload', 'people'] as const;
const RECORDING = ['signer', 'approver', 'pcr-issuer', 'certificate-request'] as const;

/** What {@link startStage} starts. */
export interface RevocationStage {
  readonly cluster: Cluster;
  readonly ledger: ComponentProcess;
  /** For files; it is gone when the stage has stopped. */
  readonly directory: string;
  stop(): Promise<void>;
}

/** Signers `workload` and `people` have CRLs; jane of group dev and namespace team-a may ask. */
export async function startStage(): Promise<RevocationStage> {
  const directory = mkdtempSync(join(tmpdir(), 'revocation-'));
  const flags = { 'kube-apiserver': await frontProxyFlags(directory) };
  const cluster = await startCluster({ version: '1.37', flags });
  await applyManifests(cluster);
  await applyCrds(cluster);
  const stand = await LedgerStand.create(cluster, { aggregated: true });
  const installation = await startComponents(cluster, {
    only: ['authority', 'attester'],
    args: ['--propagation', '1s'],
  });
  await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });
  for (const name of SIGNERS) await applySigner(cluster, revocable(name, stand.crlUrl));
  for (const name of SIGNERS) await waitForUsableCa(cluster, name);
  const ledger = await stand.startLedger();
  await Promise.all(RECORDING.map((name) => stand.start(name, '--ledger-mode', 'required')));
  await serveRecords(cluster, stand.port);
  await allowRequesters(cluster);
  await allowCertificateRequesters(cluster);
  await createTeam(cluster, 'team-a', ['web']);
  const stop = async (): Promise<void> => {
    await stand.stop();
    await installation.stop();
    await cluster.stop();
    rmSync(directory, { recursive: true });
  };
  return { cluster, ledger, directory, stop };
}

/** deploy/examples with CRLs that the ledger serves. */
function revocable(name: string, url: string): object {
  const signer = example(name);
  const profile = { ...signer.spec.profile, crl: { urls: [url] } };
  return { ...signer, spec: { ...signer.spec, profile } };
}

/** The ledger's API behind the API server; its TLS is for test/integration/ledger-api.test.ts. */
async function serveRecords(cluster: Cluster, port: number): Promise<void> {
  await apply(cluster, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'countersign-ledger-api', namespace: SYSTEM_NAMESPACE },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  await applyLedgerApiService(cluster);
  const name = 'v1alpha1.ledger.countersign.dev';
  const patch = { spec: { insecureSkipTLSVerify: true, service: { port } } };
  await cluster.kubectl(['patch', 'apiservice', name, '--type=merge', '-p', JSON.stringify(patch)]);
  const timeout = `--timeout=${PATIENCE / 1000}s`;
  await cluster.kubectl(['wait', `apiservice/${name}`, '--for=condition=Available', timeout]);
}
