// SPDX-License-Identifier: Apache-2.0
import type { CheckDescription } from './description.ts';

/** What was installed: definitions, components, roles, policies. */
export const INSTALLATION_CHECKS = {
  'definitions-installed': {
    group: 'installation',
    title: 'the CustomResourceDefinitions are installed, established and of this version',
    affects:
      'Without them there are no signers. Fields that an older definition does not know are lost when they are written.',
    todo: ['Install them again from this version:', '$ kubectl apply --server-side -f deploy/crds'],
  },
  'components-running': {
    group: 'installation',
    title: 'every component has a replica that holds its Lease',
    affects:
      'What the component does is not done: approver decides, signer and pcr-issuer and certificate-request sign, attester publishes bundles, authority replaces CAs.',
    todo: [
      'Look at its pods and at the log:',
      '$ kubectl -n countersign-system get pods',
      '$ kubectl -n countersign-system logs deployment/countersign-signer',
    ],
  },
  'replicas-available': {
    group: 'installation',
    title: 'every Deployment has the replicas that it asks for',
    affects: 'One replica less is left to take over; with none the work stops.',
    todo: ['$ kubectl -n countersign-system describe deployments'],
  },
  'versions-equal': {
    group: 'installation',
    title: 'all components run the same image',
    affects:
      'Components of different versions work together while an upgrade runs. For longer they are not tested together.',
    todo: [
      'Finish the upgrade:',
      '$ helm upgrade countersign deploy/chart --namespace countersign-system --reset-then-reuse-values',
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
    todo: [
      'Print the roles for the ClusterSigners of the cluster and apply them:',
      '$ countersign rbac --from-cluster | kubectl apply --server-side -f -',
    ],
  },
  'policies-equal': {
    group: 'installation',
    title: 'the admission policies are those that Countersign prints',
    affects:
      'Each policy keeps somebody from something; what, the line says. Certificates are still issued.',
    todo: ['$ countersign rbac --from-cluster | kubectl apply --server-side -f -'],
  },
} as const satisfies Readonly<Record<string, CheckDescription>>;
