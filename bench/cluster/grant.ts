// SPDX-License-Identifier: Apache-2.0
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { KEYS_NAMESPACE } from '../../test/support/cluster/installation.ts';
import type { BenchCluster } from './start.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';

/** The Secret of deploy/examples/workload.yaml. */
const CA_SECRET = 'workload-ca';

/** What the Secret's owner allows: its CA to sign for that name, or for none. */
export async function grant(
  { client }: BenchCluster,
  signerName: string | undefined,
): Promise<void> {
  await client.request({
    method: 'PATCH',
    path: SECRETS.object({ namespace: KEYS_NAMESPACE, name: CA_SECRET }),
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations: { [SIGNER_NAME]: signerName ?? null } } },
  });
}
