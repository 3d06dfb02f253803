// SPDX-License-Identifier: Apache-2.0
/** What `countersign inspect certificaterequest/NAME` reads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IssuerReference } from '#api/request/certificate-request.ts';
import { readerOf } from '#cli/sources/cluster-objects.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';
import { clusterSigner, workloadSpec } from '../support/signers/cluster-signer.ts';
import { certificateRequest } from '../support/requests/certificate-request.ts';

/** Returns the signer names of what is read of a CertificateRequest with this issuer. */
async function signersOf(
  issuerRef: IssuerReference,
  status = 200,
): Promise<readonly (string | undefined)[]> {
  const client = recordedClient();
  const request = certificateRequest({});
  client.answer(({ path }) => {
    if (path.includes('/certificaterequests/'))
      return { ...request, spec: { ...request.spec, issuerRef } };
    if (path.endsWith('/clustersigners/workload') && status === 200)
      return clusterSigner(workloadSpec());
    throw new KubeError({ status: status === 200 ? 404 : status, what: path });
  });
  const read = readerOf('certificaterequest');
  assert.ok(read);
  const found = await read(client, { kind: 'certificaterequest', name: 'web', namespace: 'a' });
  return found.materials.map(({ signer }) => signer);
}

const OURS = { group: 'countersign.dev', kind: 'ClusterSigner', name: 'workload' };

test('a CertificateRequest of a ClusterSigner has its signer name', async () => {
  assert.deepEqual(await signersOf(OURS), ['example.com/workload']);
});

for (const [what, issuerRef, status] of [
  ['another group', { ...OURS, group: 'cert-manager.io' }, 200],
  ['the default group', { name: 'workload' }, 200],
  ['a signer that does not exist', { ...OURS, name: 'gone' }, 200],
  ['a signer that the user may not read', OURS, 403],
] as const)
  test(`a CertificateRequest of ${what} is read without a signer name`, async () => {
    assert.deepEqual(await signersOf(issuerRef, status), [undefined]);
  });
