// SPDX-License-Identifier: Apache-2.0
import packageJson from '../package.json' with { type: 'json' };
import type { InstallationPlan } from '../src/manifests/installation-plan.ts';
import type { Installation } from '../src/manifests/installation.ts';
import { planOf } from '../src/manifests/values/plan.ts';

/** The signer names of deploy/examples. */
export const DEMO_SIGNERS = [
  { name: 'example.com/workload' },
  { name: 'example.com/people', bundle: '' },
];

/** What the chart makes of it: the names of deploy/examples, with every optional part. */
const VALUES = {
  signers: DEMO_SIGNERS,
  whoMayRequest: true,
  networkPolicy: { enabled: true },
  serviceMonitor: { enabled: true },
  alerts: { enabled: true },
  injection: { enabled: true },
  dashboards: { enabled: true },
};

/** The plan of `kubectl apply -k .`; what is opt-in is a file that nothing lists. */
export const DEMO_PLAN: InstallationPlan = planOf(VALUES, {
  namespace: 'default',
  // kustomize edit set image replaces it.
  version: packageJson.version,
});

/** The names of the demo and of deploy/examples: what rbac/ and deploy/admission are made for. */
export const DEMO: Installation = DEMO_PLAN.installation;
