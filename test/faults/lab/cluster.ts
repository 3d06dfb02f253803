// SPDX-License-Identifier: Apache-2.0
import { openCluster, type Cluster } from '../../cluster/cluster.ts';

/**
 * A control plane for faults: no kubelets, whose requests would be nobody's to judge, and nobody
 * who removes a request before it was judged.
 */
export function openFaultCluster(log?: (line: string) => void): Promise<Cluster> {
  return openCluster({
    nodes: 0,
    flags: {
      'kube-controller-manager': [
        '--controllers=*,-certificatesigningrequest-cleaner-controller,-podcertificaterequest-cleaner-controller',
      ],
    },
    ...(log === undefined ? {} : { log }),
  });
}
