// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../../test/cluster/cluster.ts';
import { SYSTEM_NAMESPACE } from '../../test/support/installation.ts';
import type { Contender } from '../cluster/contender.ts';
import { BUNDLE } from '../cluster/start.ts';
import { createPeer } from '../cluster/peer.ts';

export const CONTENDERS = ['countersign', 'upstream-unlimited', 'status-writer'] as const;
export type ContenderName = (typeof CONTENDERS)[number];

/** Ours as shipped, upstream's signer without its limiter, and the limit of the API server. */
export async function contenders(cluster: Cluster): Promise<readonly Contender[]> {
  const ours = await cluster.serviceAccountKubeconfig(SYSTEM_NAMESPACE, 'countersign-pcr-issuer');
  const upstream = { name: 'upstream', signerName: 'bench.example.com/upstream' };
  const writer = { name: 'status-writer', signerName: 'bench.example.com/status-writer' };
  return [
    {
      name: 'countersign',
      signerName: 'example.com/workload',
      command: [
        ...[process.execPath, BUNDLE, 'pcr-issuer'],
        ...['--kubeconfig', ours, '--listen', '127.0.0.1:0'],
      ] as unknown as Contender['command'],
      bundle: 'example.com:workload:primary',
    },
    {
      name: 'upstream-unlimited',
      signerName: upstream.signerName,
      command: [
        ...cluster.tool('podcertificatesigner'),
        ...['--kubeconfig', await createPeer(cluster, upstream)],
        // As shipped, client-go's default of 5 requests a second would be all that is measured.
        ...['--signer-name', upstream.signerName, '--qps', '-1'],
      ],
      bundle: 'bench.example.com:upstream:primary-bundle',
    },
    {
      name: 'status-writer',
      signerName: writer.signerName,
      command: [
        ...cluster.tool('pcr-status-writer'),
        ...['--kubeconfig', await createPeer(cluster, writer), '--signer-name', writer.signerName],
      ],
    },
  ];
}
