// SPDX-License-Identifier: Apache-2.0
import type { CheckDescription } from './description.ts';

/** ACME signers and their Orders. */
export const ACME_CHECKS = {
  'acme-components-there': {
    group: 'installation',
    title: 'the components that the ACME signers need are installed',
    impact:
      'Without acme no Order is made. Without acme-solver or acme-responder names cannot be proved, and Orders wait.',
    remediation: [
      'Enable the component that is named, in the values of the chart:',
      '$ helm upgrade countersign deploy/chart --namespace NAMESPACE --reset-then-reuse-values --set components.acme.enabled=true',
      'Without Helm, print the same for a file of values:',
      '$ countersign manifests --values values.yaml | kubectl apply -f -',
    ],
  },
  'acme-signers-ready': {
    group: 'signers',
    title: 'every ACME signer has a valid spec and is Ready',
    impact: 'Requests of an ACME signer that is not Ready wait. They are not denied.',
    remediation: [
      'The condition says why, and docs/reference/acme.md says what to do about each reason:',
      '$ countersign explain acmeclustersigner/NAME',
      '$ kubectl describe acmeclustersigner NAME',
    ],
  },
  'acme-orders-progress': {
    group: 'requests',
    title: 'the latest Order of every request is progressing',
    impact: 'The certificate that it is for is not issued yet, or not renewed.',
    remediation: [
      'See what it waits for: the ACME server, or a name that is not proved. A wait ends by itself.',
      '$ countersign explain order/NAME -n NAMESPACE',
      'Once what is named is fixed, delete an Order that is invalid, and another one is made at once:',
      '$ kubectl delete order.acme.countersign.dev NAME -n NAMESPACE',
      'A request whose Order failed gets no other one: make a new request.',
    ],
  },
} as const satisfies Readonly<Record<string, CheckDescription>>;
