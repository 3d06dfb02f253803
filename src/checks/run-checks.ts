// SPDX-License-Identifier: Apache-2.0
import type { MissingPermission } from '../kube/client/access-review.ts';
import { checkAcmeComponents, checkAcmeOrders, checkAcmeSigners } from './acme.ts';
import { CATALOGUE, type CheckId } from './catalogue.ts';
import type { InstallationFacts, KubernetesFacts } from './facts.ts';
import type { Finding, Outcome } from './finding.ts';
import {
  checkComponentClocks,
  checkComponents,
  checkDefinitions,
  checkReplicas,
  checkReports,
  checkVersions,
} from './installation.ts';
import {
  checkClock,
  checkInstallRights,
  checkKubelets,
  checkPodCertificates,
  checkServerVersion,
  checkWebhooks,
} from './kubernetes.ts';
import { checkNotifications } from './notifications.ts';
import { checkLedger, checkOperators } from './optional-components.ts';
import { checkPolicies, checkRoles } from './rights.ts';
import {
  checkAnswered,
  checkApproved,
  checkBundles,
  checkDistributionPoints,
  checkLifetimes,
  checkReady,
  checkRotations,
  checkSpecs,
} from './signers.ts';

/** Everything that was read. Exactly one of `installed` and `mayInstall` is there: the second with `--pre`. */
export interface Facts {
  readonly kubernetes: KubernetesFacts;
  readonly installed?: InstallationFacts;
  readonly mayInstall?: readonly MissingPermission[];
  /** The version of this program. */
  readonly release: string;
}

/** A check that returns nothing is not run: it belongs to the other half of {@link Facts}. */
type Judge = (facts: Facts) => readonly Outcome[];

const ofKubernetes =
  (judge: (facts: KubernetesFacts) => readonly Outcome[]): Judge =>
  ({ kubernetes }) =>
    judge(kubernetes);

const ofInstallation =
  (judge: (facts: InstallationFacts, release: string) => readonly Outcome[]): Judge =>
  ({ installed, release }) =>
    installed === undefined ? [] : judge(installed, release);

const JUDGES: Readonly<Record<CheckId, Judge>> = {
  'api-server-version': ofKubernetes(checkServerVersion),
  'pod-certificates-served': ofKubernetes(checkPodCertificates),
  'clock-offset': ofKubernetes(checkClock),
  'kubelet-versions': ofKubernetes(checkKubelets),
  'foreign-webhooks': ofKubernetes(checkWebhooks),
  'may-install': ({ mayInstall }) =>
    mayInstall === undefined ? [] : checkInstallRights(mayInstall),
  'definitions-installed': ofInstallation(checkDefinitions),
  'components-running': ofInstallation(checkComponents),
  'component-clocks': ofInstallation(checkComponentClocks),
  'replicas-available': ofInstallation(checkReplicas),
  'versions-equal': ofInstallation(checkVersions),
  'components-report-no-faults': ofInstallation(checkReports),
  'roles-complete': ofInstallation(checkRoles),
  'policies-equal': ofInstallation(checkPolicies),
  'operator-installs': ofInstallation(checkOperators),
  'ledger-records': ofInstallation(checkLedger),
  'notifications-delivered': ofInstallation(checkNotifications),
  'signers-valid': ofInstallation(checkSpecs),
  'signers-ready': ofInstallation(checkReady),
  'ca-lifetime': ofInstallation(checkLifetimes),
  'rotation-on-time': ofInstallation(checkRotations),
  'bundles-equal': ofInstallation(checkBundles),
  'crl-distribution-points': ofInstallation(checkDistributionPoints),
  'requests-answered': ofInstallation(checkAnswered),
  'requests-approved': ofInstallation(checkApproved),
  'acme-components-there': ofInstallation(checkAcmeComponents),
  'acme-signers-ready': ofInstallation(checkAcmeSigners),
  'acme-orders-progress': ofInstallation(checkAcmeOrders),
};

/**
 * Judges what was read.
 *
 * @returns the findings in the order of the catalogue; of each check one at least, unless it belongs to the other mode
 */
export function runChecks(facts: Facts): readonly Finding[] {
  return [...CATALOGUE.keys()].flatMap((id) =>
    JUDGES[id](facts).map((outcome) => ({ id, ...outcome })),
  );
}
