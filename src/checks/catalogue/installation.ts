// SPDX-License-Identifier: Apache-2.0
import type { CheckDescription } from './description.ts';

/** Whoever manages the objects puts them back; the finding itself names the one that it is here. */
const PUT_BACK = [
  'With Helm, list every signer in the value signers, and repeat the upgrade in the namespace of the release, which helm list -A names:',
  '$ helm upgrade countersign deploy/chart --namespace NAMESPACE --reset-then-reuse-values --force-conflicts',
  'With the operator, list every signer in spec.signers; it puts the objects back by itself. If it does not, this says why:',
  '$ kubectl describe countersign cluster',
  'With neither, print the objects for the ClusterSigners of the cluster and apply them:',
  '$ countersign rbac --from-cluster | kubectl apply --server-side --force-conflicts -f -',
] as const;

/** What was installed: definitions, components, roles, policies. */
export const INSTALLATION_CHECKS = {
  'definitions-installed': {
    group: 'installation',
    title: 'the CustomResourceDefinitions are installed, established and of this version',
    affects:
      'Without them there are no signers. Fields that an older definition does not know are lost when they are written.',
    todo: [
      'Install them again from this version:',
      '$ kubectl apply --server-side --force-conflicts -f deploy/crds',
    ],
  },
  'components-running': {
    group: 'installation',
    title: 'every component has a replica that holds its Lease',
    affects:
      'What the component does is not done: approver decides, signer and pcr-issuer and certificate-request sign, attester publishes bundles, authority replaces CAs.',
    todo: [
      'Look at its pods; where there is none, at its Deployment, and where one restarts, at the log of the one before:',
      '$ kubectl -n countersign-system get pods',
      '$ kubectl -n countersign-system describe deployment countersign-signer',
      '$ kubectl -n countersign-system logs deployment/countersign-signer --previous',
    ],
  },
  'component-clocks': {
    group: 'installation',
    title: "the clock of every component agrees with the API server's",
    affects:
      'A component whose clock is more than ten minutes apart signs nothing; its requests wait. With less, certificates may not be valid yet, or end early, for those who read them.',
    todo: [
      'Correct the clock of the node that the replica runs on; NTP keeps it right. The holder of a Lease begins with the name of its pod:',
      '$ kubectl -n countersign-system get leases',
      '$ kubectl -n countersign-system get pods -o wide',
      'Until then another node does its work:',
      '$ kubectl cordon NODE && kubectl -n countersign-system delete pod POD',
    ],
  },
  'replicas-available': {
    group: 'installation',
    title: 'every Deployment has the replicas that it asks for',
    affects: 'One replica less is left to take over; with none the work stops.',
    todo: [
      'The line says what the status of the Deployment, or of one of its pods, has as the cause. Where it says none:',
      '$ kubectl -n countersign-system describe deployments',
      '$ kubectl -n countersign-system describe pods',
    ],
  },
  'versions-equal': {
    group: 'installation',
    title: 'all components run the same image',
    affects:
      'Components of different versions work together while an upgrade runs. For longer they are not tested together.',
    todo: [
      'Finish the upgrade. With Helm, in the namespace of the release, which helm list -A names:',
      '$ helm upgrade countersign deploy/chart --namespace NAMESPACE --reset-then-reuse-values',
      'With the operator, its object says what it waits for:',
      '$ kubectl describe countersign cluster',
      'With neither, apply the manifests of one version.',
    ],
  },
  'components-report-no-faults': {
    group: 'installation',
    title: 'no component reports something that it cannot do',
    affects: 'Requests of the signers that are named wait until it is mended.',
    todo: ['Do what the report says. Each component looks again within seconds.'],
  },
  'roles-complete': {
    group: 'installation',
    title: 'the roles grant what the components need for each ClusterSigner',
    affects: 'A component that lacks a permission for a signer leaves its requests waiting.',
    todo: PUT_BACK,
  },
  'policies-equal': {
    group: 'installation',
    title: 'the admission policies are those that Countersign prints',
    affects:
      'Each policy keeps somebody from something; what, the line says. Certificates are still issued.',
    todo: PUT_BACK,
  },
  'operator-installs': {
    group: 'installation',
    title: 'what an operator is to install is installed as its object says, and healed',
    affects:
      'Components that run go on. What is changed or deleted is not put back while no operator looks at it; an upgrade stays half done while it is Degraded.',
    todo: [
      'The conditions of the object name what is in the way:',
      '$ kubectl describe countersign cluster',
      '$ kubectl describe certmanagerdeployment cluster',
      'Print what the operator would change:',
      '$ countersign operator plan',
    ],
  },
  'ledger-records': {
    group: 'installation',
    title: 'the ledger runs where components record, and all of them do',
    affects:
      'With ledger.mode required nothing is issued while the ledger is away. With best-effort certificates are issued without a record.',
    todo: [
      'Look at its pod and its volume:',
      '$ kubectl -n countersign-system describe deployment countersign-ledger',
      '$ kubectl -n countersign-system logs deployment/countersign-ledger',
      'The values components.ledger.enabled and ledger.mode say whether it is wanted.',
    ],
  },
  'notifications-delivered': {
    group: 'installation',
    title: 'every target of notifier takes what it is told',
    affects:
      'A target that is not told misses what happens. Its events wait, 10,000 of them and each for a day; the oldest go first. Certificates are issued all the same.',
    todo: [
      'The line says what the target answers, or why it cannot be reached. The log has it, too:',
      '$ kubectl -n countersign-system logs deployment/countersign-notifier',
      'A secret that is missing is made for the name of the target:',
      '$ kubectl -n countersign-system describe secret countersign-notifier-targets',
      'A target in your cluster or network must be in a network that notifications.networks lists (--target-network).',
      'A target that answers 410 is retired. Give it its new URL in notifications.targets (--target), or leave it out; a restart asks it again:',
      '$ kubectl -n countersign-system rollout restart deployment/countersign-notifier',
    ],
  },
} as const satisfies Readonly<Record<string, CheckDescription>>;
