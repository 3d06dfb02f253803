// SPDX-License-Identifier: Apache-2.0
/** The stand of a key holder on a cluster: the manifests of its values, its signer and its pods. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { established } from '../../cluster/established.ts';
import { until } from '../../cluster/until.ts';
import { countersign } from './countersign.ts';
import { applySigner, example, waitForReady } from './fixture.ts';
import { KEYS_NAMESPACE, SYSTEM_NAMESPACE } from './installation.ts';
import { createPod, createTeam, filesOf } from './pods.ts';

export const HELD_SIGNER_NAME = 'example.com/workload';

/** The signer name and the leaves that the holder of the key `workload` signs. */
export const HELD_KEY = {
  signerNames: [HELD_SIGNER_NAME],
  leaf: {
    maxDuration: '24h',
    names: { uris: ['spiffe://cluster[.]local/ns/team-[a-z]+/sa/[a-z-]+'] },
  },
};

/** Applies what `countersign manifests` prints for the values. @param folder - for its files */
export async function installHeld(cluster: Cluster, folder: string, values: object): Promise<void> {
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const { stdout, code } = await countersign(['manifests', '--values', file]);
  assert.equal(code, 0);
  writeFileSync(join(folder, 'all.yaml'), stdout);
  await until('the manifests are applied', 60_000, () =>
    cluster.kubectl(['apply', '--server-side', '-f', join(folder, 'all.yaml')]),
  );
  await established(cluster, 'crd/clustersigners.countersign.dev');
}

/** Returns the spec of the pod of pcr-issuer, which the pod security standard has admitted. */
export function admittedPod<Spec>(cluster: Cluster): Promise<Spec> {
  return until('pcr-issuer has its pod', 60_000, async () => {
    const label = 'app.kubernetes.io/component=pcr-issuer';
    const args = ['get', 'pods', '-n', SYSTEM_NAMESPACE, '-l', label, '-o', 'json'];
    const { stdout } = await cluster.kubectl(args);
    return (JSON.parse(stdout) as { items: { spec: Spec }[] }).items[0]?.spec;
  });
}

/** Applies the signer of the held CA, and makes the ServiceAccount of its pods. */
export async function applyHeldSigner(cluster: Cluster, chain: string): Promise<void> {
  const { requests: _requests, certificateRequests: _cert, ...spec } = example('workload').spec;
  const keyHolder = { namespace: KEYS_NAMESPACE, key: 'workload', chain };
  await applySigner(cluster, {
    ...example('workload'),
    spec: { ...spec, authority: { keyHolder } },
  });
  await waitForReady(cluster, 'workload', 'Checked');
  await createTeam(cluster, 'team-a', ['web']);
}

export function createHeldPod(cluster: Cluster, name: string): Promise<void> {
  return createPod(cluster, {
    name,
    namespace: 'team-a',
    serviceAccount: 'web',
    node: 'node-1',
    signerName: HELD_SIGNER_NAME,
    keyType: 'ECDSAP256',
  });
}

/**
 * Returns the serial number of a pod's leaf, once OpenSSL has verified it from the root alone.
 *
 * @param folder - has the root in `keys/workload/ca.crt`
 */
export async function verifiedSerialOf(
  cluster: Cluster,
  folder: string,
  name: string,
): Promise<string> {
  const { credentials } = await filesOf(cluster, { namespace: 'team-a', name });
  const leaf = new X509Certificate(readFileSync(credentials));
  const file = join(folder, `${name}.pem`);
  writeFileSync(file, leaf.toString());
  const root = join(folder, 'keys/workload/ca.crt');
  const output = execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', root, file]);
  assert.match(output.toString(), /: OK/);
  return leaf.serialNumber.toLowerCase();
}

/** Waits for the reason of the condition Served, which pcr-issuer reports by its Lease. */
export function servedBecauseOf(cluster: Cluster, reason: string): Promise<unknown> {
  return until(`Served has the reason ${reason}`, 120_000, async () => {
    const path = 'jsonpath={.status.conditions[?(@.type=="Served")].reason}';
    const { stdout } = await cluster.kubectl(['get', 'clustersigner', 'workload', '-o', path]);
    return stdout === reason ? true : undefined;
  });
}
