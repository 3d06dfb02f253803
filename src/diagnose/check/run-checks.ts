// SPDX-License-Identifier: Apache-2.0
import type { MissingPermission } from '#kube/client/access-review.ts';
import { checkAcceptedAnchors } from './accepted-anchors.ts';
import { checkExternalSigners } from './external.ts';
import { checkAcmeComponents, checkAcmeOrders, checkAcmeSigners } from './acme.ts';
import { checkBindings } from './access/bindings.ts';
import { checkFlowControl } from './flow-control.ts';
import { checkListed } from './access/listed-signers.ts';
import { CATALOGUE, type CheckId } from './catalogue.ts';
import type { InstallationFacts, KubernetesFacts, LedgerFacts } from './facts.ts';
import { causeOf, withCause, type Finding, type Outcome } from './finding.ts';
import {
  absentInstallation,
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
  checkLedgerNeeds,
  checkPodCertificates,
  checkServerVersion,
  checkWebhooks,
} from './kubernetes.ts';
import { checkNotifications } from './notifications.ts';
import { checkApiServices, checkLedger, checkOperators } from './optional-components.ts';
import { checkAnnotations } from './pods/annotations.ts';
import { checkLeaves } from './pods/leaves.ts';
import { checkGranted } from './pods/refused.ts';
import { checkServices } from './pods/services.ts';
import { checkRequested } from './pods/waiting.ts';
import { checkCrls, checkRevocations } from './revocations.ts';
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
  checkUsable,
  checkValid,
} from './signers.ts';

/** All facts. `mayInstall` and `ledger` are present with `--pre`, and `installed` without it. */
export interface Facts {
  readonly kubernetes: KubernetesFacts;
  readonly installed?: InstallationFacts;
  readonly mayInstall?: readonly MissingPermission[];
  readonly ledger?: LedgerFacts;
  /** The version of this program. */
  readonly release: string;
}

/** A check that returns no outcome does not run: it belongs to the other half of {@link Facts}. */
type Judge = (facts: Facts) => readonly Outcome[];

const ofKubernetes =
  (judge: (facts: KubernetesFacts) => readonly Outcome[]): Judge =>
  ({ kubernetes }) =>
    judge(kubernetes);

const isFailure = ({ severity }: Outcome): boolean => ['warning', 'error'].includes(severity);

type InstallationJudge = (facts: InstallationFacts, release: string) => readonly Outcome[];

/** Without an installation, that is the cause of every failure. */
const ofInstallation =
  (judge: InstallationJudge): Judge =>
  ({ installed, release }) => {
    if (installed === undefined) return [];
    const outcomes = judge(installed, release);
    const absent = absentInstallation(installed);
    if (absent === undefined) return outcomes;
    const cause = causeOf('components-running', absent.subject ?? '');
    return outcomes.map((each) => (isFailure(each) ? withCause(each, cause) : each));
  };

const JUDGES: Readonly<Record<CheckId, Judge>> = {
  'api-server-version': ofKubernetes(checkServerVersion),
  'pod-certificates-served': ofKubernetes(checkPodCertificates),
  'clock-offset': ofKubernetes(checkClock),
  'kubelet-versions': ofKubernetes(checkKubelets),
  'foreign-webhooks': ofKubernetes(checkWebhooks),
  'ledger-possible': ({ ledger }) => (ledger === undefined ? [] : checkLedgerNeeds(ledger)),
  'may-install': ({ mayInstall }) =>
    mayInstall === undefined ? [] : checkInstallRights(mayInstall),
  'definitions-installed': ofInstallation(checkDefinitions),
  'components-running': ({ installed }) =>
    installed === undefined ? [] : checkComponents(installed),
  'component-clocks': ofInstallation(checkComponentClocks),
  'replicas-available': ofInstallation(checkReplicas),
  'versions-equal': ofInstallation(checkVersions),
  'components-report-no-faults': ofInstallation(checkReports),
  'roles-complete': ofInstallation(checkRoles),
  'roles-bound': ofInstallation(checkBindings),
  'signers-listed': ofInstallation(checkListed),
  'policies-equal': ofInstallation(checkPolicies),
  'flow-control-equal': ofInstallation(checkFlowControl),
  'operator-installs': ofInstallation(checkOperators),
  'ledger-records': ofInstallation(checkLedger),
  'api-services-available': ofInstallation(checkApiServices),
  'notifications-delivered': ofInstallation(checkNotifications),
  'signers-valid': ofInstallation(checkSpecs),
  'signers-ready': ofInstallation(checkReady),
  'ca-usable': ofInstallation(checkUsable),
  'ca-lifetime': ofInstallation(checkLifetimes),
  'anchors-accepted': ofInstallation(checkAcceptedAnchors),
  'rotation-on-time': ofInstallation(checkRotations),
  'bundles-equal': ofInstallation(checkBundles),
  'leaves-trusted': ofInstallation(checkLeaves),
  'services-select': ofInstallation(checkServices),
  'crl-distribution-points': ofInstallation(checkDistributionPoints),
  'crls-signed': ofInstallation(checkCrls),
  'revocations-listed': ofInstallation(checkRevocations),
  'pods-requested': ofInstallation(checkRequested),
  'requests-granted': ofInstallation(checkGranted),
  'annotations-known': ofInstallation(checkAnnotations),
  'requests-answered': ofInstallation(checkAnswered),
  'requests-valid': ofInstallation(checkValid),
  'requests-approved': ofInstallation(checkApproved),
  'acme-components-there': ofInstallation(checkAcmeComponents),
  'acme-signers-ready': ofInstallation(checkAcmeSigners),
  'acme-orders-progress': ofInstallation(checkAcmeOrders),
  'external-signers-ready': ofInstallation(checkExternalSigners),
};

/**
 * Judges the facts.
 *
 * @returns the findings in the order of the catalogue: at least one for each check of the mode
 */
export function runChecks(facts: Facts): readonly Finding[] {
  return [...CATALOGUE.keys()].flatMap((id) =>
    JUDGES[id](facts).map((outcome) => ({ id, ...outcome })),
  );
}
