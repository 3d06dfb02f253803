// SPDX-License-Identifier: Apache-2.0
import { OPT_IN, admissionOf } from './admission/policy-list.ts';
import type { InstallationPlan } from './installation-plan.ts';
import { rolesOf } from './render.ts';
import type { Manifest } from './roles.ts';
import { USER_ROLES_FILE, userRoles } from './user-roles.ts';
import { disruptionBudget, flowControl } from './workloads/availability.ts';
import { deployment } from './workloads/deployment.ts';
import { ledgerApiService, ledgerObjects } from './workloads/ledger.ts';
import { notifierObjects } from './workloads/notifier.ts';
import {
  alerts,
  dashboards,
  egressPolicy,
  networkPolicy,
  serviceMonitors,
} from './monitoring/monitoring.ts';
import { namespaces } from './workloads/namespaces.ts';
import { ownTls, servingSigner } from './workloads/own-tls.ts';
import { publicNetworkPolicies, publicPorts } from './workloads/public-ports.ts';

/**
 * Returns every object of an installation except the CustomResourceDefinitions, by file. `deploy/`,
 * `rbac/` and the chart are made from it. A part that the plan leaves out has no file.
 */
export function installationFiles(
  plan: InstallationPlan,
): ReadonlyMap<string, readonly Manifest[]> {
  const components = [...plan.components.keys()];
  const roles = [
    ...rolesOf(plan.installation, components),
    [USER_ROLES_FILE, userRoles()] as const,
  ];
  const { whoMayRequest = false, servingSigner: serving = false } = plan.parts;
  const admission = [...admissionOf(plan.installation)].filter(
    ([file]) => whoMayRequest || file !== OPT_IN,
  );
  const files: [string, readonly Manifest[]][] = [
    ['namespaces.yaml', namespaces(plan)],
    ...roles.map(inFolder('rbac')),
    ...admission.map(inFolder('admission')),
    ['flow-control.yaml', flowControl(plan)],
    ['own-tls.yaml', ownTls(plan)],
    ['ledger.yaml', ledgerObjects(plan)],
    ['ledger-api-service.yaml', ledgerApiService(plan)],
    ['notifier.yaml', notifierObjects(plan)],
    ['deployments.yaml', components.map((each) => deployment(each, plan))],
    ['public-ports.yaml', publicPorts(plan)],
    ['disruption-budgets.yaml', components.map((each) => disruptionBudget(each, plan))],
    ['serving-signer.yaml', serving ? [servingSigner(plan)] : []],
    ['network-policy.yaml', networkPolicy(plan)],
    ['public-network-policies.yaml', publicNetworkPolicies(plan)],
    ['federation-network-policy.yaml', egressPolicy(plan)],
    ['service-monitors.yaml', serviceMonitors(plan)],
    ['alerts.yaml', alerts(plan)],
    ['dashboards.yaml', dashboards(plan)],
  ];
  return new Map(files.filter(([, manifests]) => manifests.length > 0));
}

function inFolder(
  folder: string,
): (entry: readonly [string, readonly Manifest[]]) => [string, readonly Manifest[]] {
  return ([file, manifests]) => [`${folder}/${file}`, manifests];
}
