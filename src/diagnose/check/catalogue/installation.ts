// SPDX-License-Identifier: Apache-2.0
import type { CheckDescription } from './description.ts';

const WITHOUT_VALUES =
  'Without values, print the roles by countersign rbac --from-cluster with all other flags that it got before. It finds the ClusterSigners alone, and its output replaces the roles.';

/** The fix for each manager of the objects. The finding itself names the actual manager. */
const PUT_BACK = [
  'With Helm, list every signer in the value signers, and repeat the upgrade in the namespace of the release, which helm list -A names:',
  '$ helm upgrade countersign deploy/chart --namespace NAMESPACE --reset-then-reuse-values --force-conflicts',
  'With the operator, list every signer in spec.signers; it puts the objects back by itself. If it does not, this says why:',
  '$ kubectl describe countersigns cluster',
  'With countersign install, list every signer in the value signers, and install again:',
  '$ countersign install --values values.yaml --force-conflicts',
  'With none of these, print the manifests for your values and apply them:',
  '$ countersign manifests --values values.yaml | kubectl apply --server-side --force-conflicts -f -',
  WITHOUT_VALUES,
] as const;

/** Checks of the installation: definitions, components, roles, policies. */
export const INSTALLATION_CHECKS = {
  'definitions-installed': {
    group: 'installation',
    title: 'the CustomResourceDefinitions are installed, established and those of this version',
    impact:
      'Without them there are no signers. Fields that an older or edited definition does not know are lost when they are written.',
    remediation: [
      'Install them again from this version:',
      '$ kubectl apply --server-side --force-conflicts -f deploy/crds',
      'Those of acme.countersign.dev and operator.countersign.dev are in folders of their own:',
      '$ kubectl apply --server-side --force-conflicts -f deploy/crds/acme',
      '$ kubectl apply --server-side --force-conflicts -f deploy/crds/operator',
    ],
  },
  'components-running': {
    group: 'installation',
    title: 'every component has a replica that holds its Lease',
    impact:
      'What the component does is not done: approver decides, signer and pcr-issuer and certificate-request sign, attester publishes bundles, authority replaces CAs.',
    remediation: [
      'A Deployment that is scaled to 0 has no pods. Scale it up again:',
      '$ kubectl -n countersign-system scale deployment countersign-signer --replicas=2',
      'Otherwise look at its pods; where there is none, at its Deployment, and where one restarts, at the log of the previous container:',
      '$ kubectl -n countersign-system get pods',
      '$ kubectl -n countersign-system describe deployment countersign-signer',
      '$ kubectl -n countersign-system logs deployment/countersign-signer --previous',
      'Where pods run and hold no Lease, as after their ServiceAccount was deleted and made again, new pods have new credentials:',
      '$ kubectl -n countersign-system rollout restart deployment countersign-signer',
    ],
  },
  'component-clocks': {
    group: 'installation',
    title: "the clock of every component agrees with the API server's",
    impact:
      'A component whose clock is more than ten minutes apart signs nothing; its requests wait. With less, certificates may not be valid yet, or end early, for those who read them.',
    remediation: [
      'Correct the clock of the node that the replica runs on; NTP keeps it right. The holder of a Lease begins with the name of its pod:',
      '$ kubectl -n countersign-system get leases',
      '$ kubectl -n countersign-system get pods -o wide',
      'Until then another node does its work:',
      '$ kubectl cordon NODE && kubectl -n countersign-system delete pod POD',
    ],
  },
  'replicas-available': {
    group: 'installation',
    title: 'every Deployment has the replicas in its spec',
    impact: 'One replica less is left to take over; with none the work stops.',
    remediation: [
      'The line says what the status of the Deployment, or of one of its pods, has as the cause. A ResourceQuota must allow the pods:',
      '$ kubectl -n countersign-system edit resourcequota NAME',
      'Where it says none:',
      '$ kubectl -n countersign-system describe deployments',
      '$ kubectl -n countersign-system describe pods',
      'If it says ContainersNotReady, and no container restarts, /readyz of the component has the reason. kubectl does not print the body of a 503 response, so read it through kubectl proxy:',
      '$ kubectl proxy --port=8001 & sleep 1; curl -s http://127.0.0.1:8001/api/v1/namespaces/countersign-system/pods/https:POD:8443/proxy/readyz; kill %1',
    ],
  },
  'versions-equal': {
    group: 'installation',
    title: 'all components run the same image',
    impact:
      'Components of different versions work together while an upgrade runs. For longer they are not tested together.',
    remediation: [
      'Finish the upgrade. With Helm, in the namespace of the release, which helm list -A names:',
      '$ helm upgrade countersign deploy/chart --namespace NAMESPACE --reset-then-reuse-values --force-conflicts',
      'With the operator, its object says what it waits for:',
      '$ kubectl describe countersigns cluster',
      'With countersign install, install again with the program of one version:',
      '$ countersign install --values values.yaml --force-conflicts',
      'With none of these, apply the manifests of one version.',
    ],
  },
  'components-report-no-faults': {
    group: 'installation',
    title: 'no component reports something that it cannot do',
    impact:
      'An error: requests of the signers that are named wait until it is fixed. A warning: requests are answered, and something else is late or lost.',
    remediation: ['Do what the report says. Each component looks again within seconds.'],
  },
  'roles-complete': {
    group: 'installation',
    title: 'the roles grant what the components need for each ClusterSigner',
    impact: 'A component that lacks a permission for a signer leaves its requests waiting.',
    remediation: PUT_BACK,
  },
  'roles-bound': {
    group: 'installation',
    title: 'every role of a component is bound to its ServiceAccount, which exists',
    impact:
      'A role that is not bound grants nothing, and a component without its ServiceAccount has no identity: it neither reads nor writes, and its requests wait.',
    remediation: [
      ...PUT_BACK,
      'A ServiceAccount that was deleted and made again is another one. The pods of its component need new tokens:',
      '$ kubectl -n countersign-system rollout restart deployment countersign-signer',
    ],
  },
  'signers-listed': {
    group: 'installation',
    title: 'the roles name every ClusterSigner',
    impact:
      'No component may serve a ClusterSigner whose name the values do not list. Its requests wait.',
    remediation: [
      'Add the line that the finding prints to the value signers. The finding prints the command with it, too.',
      'With Helm, a list in --set-json replaces the whole list: the printed command repeats the lines that are there already.',
      '$ helm upgrade countersign deploy/chart --namespace NAMESPACE --reset-then-reuse-values --set-json \'signers=[{"name":"example.com/workload"}]\'',
      'With the operator:',
      '$ kubectl patch countersigns cluster --type=json -p \'[{"op":"add","path":"/spec/signers/-","value":{"name":"example.com/workload"}}]\'',
      'With countersign install, add the line to the value signers, and install again:',
      '$ countersign install --values values.yaml --force-conflicts',
      'With none of these, add the line to your values, print the manifests and apply them:',
      '$ countersign manifests --values values.yaml | kubectl apply --server-side --force-conflicts -f -',
      WITHOUT_VALUES,
      'If the CA of the ClusterSigner is in another namespace than those of the installation, no line can list it. Move the CA, and write its namespace in spec.authority:',
      '$ kubectl edit clustersigner NAME',
    ],
  },
  'policies-equal': {
    group: 'installation',
    title: 'the admission policies are those that Countersign prints',
    impact:
      'Each policy blocks writes that no role can rule out. The line says which writes the API server accepts without it. Certificates are still issued.',
    remediation: PUT_BACK,
  },
  'flow-control-equal': {
    group: 'installation',
    title: 'the components have their own flow schema and priority level',
    impact:
      'The API server then queues their calls with those of other ServiceAccounts. Under load the components are slow, and they can lose their Leases.',
    remediation: [
      'With Helm, repeat the upgrade in the namespace of the release, which helm list -A names:',
      '$ helm upgrade countersign deploy/chart --namespace NAMESPACE --reset-then-reuse-values --force-conflicts',
      'The operator puts both objects back by itself. With countersign install, install again:',
      '$ countersign install --values values.yaml --force-conflicts',
      'With none of these, apply the manifests again:',
      '$ countersign manifests --values values.yaml | kubectl apply -f -',
    ],
  },
  'operator-installs': {
    group: 'installation',
    title: 'the operator installs what its object specifies, and repairs it',
    impact:
      'Components that run continue. While no operator runs, nothing restores a changed or deleted object; an upgrade stays incomplete while it is Degraded.',
    remediation: [
      'The conditions of the object name what is in the way:',
      '$ kubectl describe countersigns cluster',
      '$ kubectl describe certmanagerdeployments cluster',
      'Print what the operator would change:',
      '$ countersign operator plan',
    ],
  },
  'ledger-records': {
    group: 'installation',
    title: 'the ledger runs where components record, and all of them do',
    impact:
      'With ledger.mode required nothing is issued while the ledger is away. With best-effort records wait in memory until the ledger is back; a component that restarts before loses its records.',
    remediation: [
      'Look at its pod and its volume:',
      '$ kubectl -n countersign-system describe deployment countersign-ledger',
      '$ kubectl -n countersign-system logs deployment/countersign-ledger',
      'The values components.ledger.enabled and ledger.mode say whether it is wanted.',
    ],
  },
  'api-services-available': {
    group: 'installation',
    title: 'every aggregated API of Countersign is Available',
    impact:
      'While an APIService is not Available, the API server cannot list its kinds. It deletes no namespace of the cluster until then, and kubectl commands for all kinds fail.',
    remediation: [
      'Look at the pod that serves it:',
      '$ kubectl -n countersign-system describe deployment countersign-ledger',
      'The condition of the APIService says what the API server meets:',
      '$ kubectl describe apiservices v1alpha1.ledger.countersign.dev',
      'If you do not need kubectl get records at all, set ledger.aggregatedApi to false: countersign ledger reads without it.',
      'Where the ledger was removed, remove its APIService, too:',
      '$ kubectl delete apiservice v1alpha1.ledger.countersign.dev',
    ],
  },
  'notifications-delivered': {
    group: 'installation',
    title: 'notifier delivers to every target',
    impact:
      'The target misses events. Up to 10,000 events or 16 MiB wait for it, each for a day. When that is full, notifier drops the oldest event of the namespace or user that has the most. Issuance continues.',
    remediation: [
      'The line says what the target answers, or why it cannot be reached. The log has it, too:',
      '$ kubectl -n countersign-system logs deployment/countersign-notifier',
      'A secret that is missing is made for the name of the target:',
      '$ kubectl -n countersign-system describe secret countersign-notifier-targets',
      'A target in your cluster or network must be in a network that notifications.networks lists (--target-network).',
      'notifier stops calling a target that answers 410. Set its new URL in notifications.targets (--target), or remove it; after a restart notifier calls it again:',
      '$ kubectl -n countersign-system rollout restart deployment/countersign-notifier',
    ],
  },
} as const satisfies Readonly<Record<string, CheckDescription>>;
