// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../../test/cluster/cluster.ts';
import { writeCertificateKubeconfig } from '../../test/cluster/kubeconfig.ts';
import type { Program } from '../cluster/contender.ts';
import { countersign } from '../cluster/ours.ts';
import { SUBJECTS, type Subjects } from './requests.ts';

/** Who approves and signs CertificateSigningRequests of one signer name. */
export interface CsrContender {
  readonly name: CsrContenderName;
  readonly signerName: string;
  readonly subjects: Subjects;
  /** One or two, each an identity of its own. */
  readonly processes: readonly Program[];
}

export type CsrContenderName = 'countersign' | 'kcm-unlimited' | 'kcm-default';

/** More than two cores can ever ask for. */
const RAISED = ['--kube-api-qps=5000', '--kube-api-burst=10000'];

export async function csrContenders(cluster: Cluster): Promise<readonly CsrContender[]> {
  const kcm = (name: CsrContenderName, flags: readonly string[]): CsrContender => ({
    name,
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    subjects: SUBJECTS.kubelet,
    processes: [{ name, command: controllerManager(cluster, flags) }],
  });
  return [
    {
      name: 'countersign',
      signerName: 'example.com/people',
      subjects: SUBJECTS.ours,
      processes: [await countersign(cluster, 'approver'), await countersign(cluster, 'signer')],
    },
    kcm('kcm-unlimited', RAISED),
    // Its defaults: 20 requests a second, 30 at once.
    kcm('kcm-default', []),
  ];
}

/** Only its two controllers of CertificateSigningRequests; the cluster's own leaves those out. */
function controllerManager(cluster: Cluster, flags: readonly string[]): Program['command'] {
  const { certFile, keyFile } = cluster.clientCa;
  const identity = 'kube-controller-manager';
  const kubeconfig = writeCertificateKubeconfig(cluster.directory, identity, cluster.server);
  return [
    ...cluster.tool(identity),
    `--kubeconfig=${kubeconfig}`,
    '--controllers=certificatesigningrequest-approving-controller,certificatesigningrequest-signing-controller',
    '--leader-elect=false',
    '--secure-port=0',
    '--use-service-account-credentials=true',
    `--cluster-signing-cert-file=${certFile}`,
    `--cluster-signing-key-file=${keyFile}`,
    ...flags,
  ];
}
