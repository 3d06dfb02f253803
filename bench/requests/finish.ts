// SPDX-License-Identifier: Apache-2.0
import { startContender } from '../cluster/contender-process.ts';
import { createPeer } from '../cluster/peer.ts';
import type { BenchCluster } from '../cluster/start.ts';

/** Has all pending requests of a signer name Issued by the bare status writer: the quickest way. */
export async function finish({ cluster }: BenchCluster, signerName: string): Promise<void> {
  const name = 'finisher';
  const kubeconfig = await createPeer(cluster, { name, signerName });
  const command = [
    ...cluster.tool('pcr-status-writer'),
    '--kubeconfig',
    kubeconfig,
    '--signer-name',
    signerName,
  ] as const;
  const writer = await startContender({ name, command }, cluster.directory);
  if ((await writer.ended) !== 0) await writer.failed;
}
