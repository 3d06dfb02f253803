// SPDX-License-Identifier: Apache-2.0
import packageJson from '../package.json' with { type: 'json' };
import { DEFAULT_SECRET_NAMESPACE, OWN_TLS_SIGNER } from '../src/api/signer/own-tls.ts';
import { COMPONENTS } from '../src/manifests/components.ts';
import type { InstallationPlan } from '../src/manifests/installation-plan.ts';
import type { Installation } from '../src/manifests/installation.ts';

const { version } = packageJson;

/** The names of the demo and of deploy/examples: what rbac/ and deploy/admission are made for. */
export const DEMO: Installation = {
  signers: ['example.com/workload', 'example.com/people'],
  bundles: ['example.com:workload:primary'],
  secrets: [
    { namespace: 'countersign-keys', name: 'workload-ca' },
    { namespace: 'countersign-keys', name: 'people-ca' },
  ],
  namespace: 'countersign-system',
  servingSigner: OWN_TLS_SIGNER,
};

/** The plan of `kubectl apply -k .`, with every optional part: what is opt-in is a file that nothing lists. */
export const DEMO_PLAN: InstallationPlan = {
  installation: DEMO,
  keysNamespace: DEFAULT_SECRET_NAMESPACE,
  namespaces: [DEMO.namespace, DEFAULT_SECRET_NAMESPACE],
  // kustomize edit set image replaces it.
  image: { reference: `countersign:${version}` },
  components: new Map(
    [...COMPONENTS].map(([name, { replicas, resources }]) => [name, { replicas, resources }]),
  ),
  parts: {
    whoMayRequest: true,
    servingSigner: true,
    networkPolicy: {
      from: [
        { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
      ],
    },
    serviceMonitors: { labels: {}, interval: '30s' },
    alerts: { labels: {} },
  },
};
