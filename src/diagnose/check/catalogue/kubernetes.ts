// SPDX-License-Identifier: Apache-2.0
import type { CheckDescription } from './description.ts';

/** Requirements of the cluster itself. `--pre` runs only these checks. */
export const KUBERNETES_CHECKS = {
  'api-server-version': {
    group: 'kubernetes',
    title: 'the API server is Kubernetes 1.36 or later',
    impact: 'Earlier versions lack APIs that the components need. No certificate is issued.',
    remediation: ['Upgrade the cluster, or use a release of Countersign that serves this version.'],
  },
  'pod-certificates-served': {
    group: 'kubernetes',
    title: 'the API server serves PodCertificateRequests and ClusterTrustBundles',
    impact:
      'Without them pods get no certificates through podCertificate volumes, and no trust bundle is published. People and cert-manager still get certificates.',
    remediation: [
      'Kubernetes 1.37 serves both by default. On 1.36 start the API server with the beta:',
      '$ kube-apiserver --runtime-config=certificates.k8s.io/v1beta1=true --feature-gates=PodCertificateRequest=true,ClusterTrustBundle=true,ClusterTrustBundleProjection=true',
      'Start the kubelet of each node with its part:',
      '$ kubelet --feature-gates=PodCertificateRequest=true,ClusterTrustBundleProjection=true',
    ],
  },
  'clock-offset': {
    group: 'kubernetes',
    title: 'this machine and the API server agree on the time',
    impact:
      'The validity of a certificate is judged by each reader with its own clock. Countersign signs nothing while its clock is more than ten minutes apart from the API server.',
    remediation: ['Correct the clock that is wrong; NTP keeps it right.'],
  },
  'kubelet-versions': {
    group: 'kubernetes',
    title: 'every kubelet can mount podCertificate and clusterTrustBundle volumes',
    impact:
      'A kubelet older than 1.35 requests no certificate: a pod with such a volume does not start there, or runs without the files.',
    remediation: [
      'Upgrade the nodes that are named, or keep new pods away from them, and delete the pods that wait there, so that others take their place:',
      '$ kubectl get nodes -o custom-columns=NAME:.metadata.name,KUBELET:.status.nodeInfo.kubeletVersion',
      '$ kubectl cordon NODE',
      '$ kubectl delete pod NAME -n NAMESPACE',
    ],
  },
  'foreign-webhooks': {
    group: 'kubernetes',
    title: 'no third-party admission webhook intercepts certificate requests',
    impact:
      'A webhook that fails closed blocks every request for a certificate while its server is away, its own certificate among them.',
    remediation: [
      'Exclude certificates.k8s.io, coordination.k8s.io and countersign.dev from its rules. A namespaceSelector does not help: requests are in the namespaces of pods, or in none.',
      'Until then, while its server is away, set failurePolicy: Ignore of the webhook that is named:',
      '$ kubectl edit validatingwebhookconfiguration NAME',
    ],
  },
  'ledger-possible': {
    group: 'kubernetes',
    title: 'the cluster has what the ledger needs, should you enable it',
    impact:
      'Without a default StorageClass the volume of the ledger stays Pending. All else works.',
    remediation: [
      'Make one StorageClass the default, or name one in the value ledger.storage.className, or a database in ledger.postgres.secret:',
      '$ kubectl get storageclasses',
      '$ kubectl annotate storageclass NAME storageclass.kubernetes.io/is-default-class=true',
    ],
  },
  'may-install': {
    group: 'kubernetes',
    title: 'you may install Countersign',
    impact: 'helm install or kubectl apply ends half way where a permission is missing.',
    remediation: [
      'Install as a cluster administrator, or have the permissions that are named granted.',
    ],
  },
} as const satisfies Readonly<Record<string, CheckDescription>>;
