// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../../test/cluster/cluster.ts';
import type { Contender } from '../cluster/contender.ts';
import { WORKLOAD, countersign } from '../cluster/ours.ts';
import { createPeer } from '../cluster/peer.ts';

export const CONTENDERS = [
  'countersign',
  'upstream-unlimited',
  'upstream-default',
  'status-writer',
] as const;
export type ContenderName = (typeof CONTENDERS)[number];

/**
 * Ours as shipped, upstream's signer without its limiter and with it, and the limit of the API
 * server.
 */
export async function contenders(cluster: Cluster): Promise<readonly Contender[]> {
  const writer = { name: 'status-writer', signerName: 'bench.example.com/status-writer' };
  return [
    { ...(await countersign(cluster, 'pcr-issuer')), ...WORKLOAD, name: 'countersign' },
    await upstream(cluster, 'upstream-unlimited', '-1'),
    // client-go's default of 5 requests a second is all that is measured here.
    await upstream(cluster, 'upstream-default', '0'),
    {
      name: 'status-writer',
      signerName: writer.signerName,
      command: [
        ...cluster.tool('pcr-status-writer'),
        '--kubeconfig',
        await createPeer(cluster, writer),
        '--signer-name',
        writer.signerName,
      ],
    },
  ];
}

async function upstream(cluster: Cluster, name: ContenderName, qps: string): Promise<Contender> {
  const signerName = `bench.example.com/${name}`;
  return {
    name,
    signerName,
    command: [
      ...cluster.tool('podcertificatesigner'),
      '--kubeconfig',
      await createPeer(cluster, { name, signerName }),
      '--signer-name',
      signerName,
      '--qps',
      qps,
    ],
    bundle: `bench.example.com:${name}:primary-bundle`,
  };
}
