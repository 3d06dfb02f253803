// SPDX-License-Identifier: Apache-2.0
import packageJson from '../package.json' with { type: 'json' };
import type { InstallationPlan } from '#install/installation-plan.ts';
import type { Installation } from '#install/installation.ts';
import { planOf } from '#install/values/plan.ts';

/** The signer names of deploy/examples. */
export const DEMO_SIGNERS = [
  { name: 'example.com/workload' },
  { name: 'example.com/people', bundle: '' },
];

/** Installation of the chart: the names of deploy/examples, with every optional part. */
const VALUES = {
  signers: DEMO_SIGNERS,
  whoMayRequest: true,
  networkPolicy: { enabled: true },
  serviceMonitor: { enabled: true },
  alerts: { enabled: true },
  injection: { enabled: true },
  dashboards: { enabled: true },
};

/** Plan of `kubectl apply -k .`. No kustomization lists the files of opt-in parts. */
export const DEMO_PLAN: InstallationPlan = planOf(VALUES, {
  namespace: 'default',
  // Users replace it by `kustomize edit set image`.
  version: packageJson.version,
});

/** Names of the demo and of deploy/examples, for which rbac/ and deploy/admission are built. */
export const DEMO: Installation = DEMO_PLAN.installation;
