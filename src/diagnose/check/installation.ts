// SPDX-License-Identifier: Apache-2.0
/** Checks of the installation. Pure: facts in, outcomes out. */
import { GROUP, VERSION } from '#api/signer/cluster-signer.ts';
import {
  CRL_NOT_SIGNED,
  NOTIFICATION_FAULTS,
  SERVING_REPORT,
  readReport,
  type ServingFault,
} from '#api/serving/report.ts';
import type { Lease } from '#kube/lease/lease.ts';
import { COMPONENTS, isComponentName } from '#install/component-list.ts';
import type { Definition, Deployment, InstallationFacts } from './facts.ts';
import { unboundCause } from './access/bindings.ts';
import { listingCause, listingFaults } from './access/listed-signers.ts';
import {
  deployAgain,
  finishUpgrade,
  installDefinition,
  putBack,
  restartCommand,
  scaleCommand,
  upgradeDefinition,
  type Installer,
} from './installer.ts';
import { MAX_CLOCK_OFFSET_MS, offsetText } from '#component/server-time.ts';
import { RIGHT_MISSING } from '#component/rbac/rights-faults.ts';
import { heldCause } from './lost-key.ts';
import { shellWord } from '#base/quote.ts';
import {
  allWell,
  differingFields,
  error,
  ok,
  warning,
  whereSeen,
  withCause,
  type Outcome,
} from './finding.ts';
import { NOTICED_OFFSET_MS } from './kubernetes.ts';
import { componentOf, isHeld, offsetOf, runningComponents } from './leases.ts';

/** Definitions without which there are no signers. Those of ACME are optional. */
const DEFINITIONS = [`clustersigners.${GROUP}`, `signers.${GROUP}`] as const;

/**
 * `definitions-installed`
 *
 * @param release - the version of this program
 */
export function checkDefinitions(
  { definitions, installer }: InstallationFacts,
  release: string,
): readonly Outcome[] {
  return whereSeen(definitions, (found) => {
    const others = found.filter(({ name }) => !DEFINITIONS.some((each) => each === name));
    return allWell(
      [
        ...DEFINITIONS.flatMap((wanted) =>
          checkDefinition(
            wanted,
            found.find(({ name }) => name === wanted),
            { release, installer },
          ),
        ),
        ...others.flatMap((each) => differentSchema(each, release, installer)),
      ],
      `${DEFINITIONS.join(' and ')} are installed`,
    );
  });
}

function checkDefinition(
  wanted: string,
  found: Definition | undefined,
  { release, installer }: { readonly release: string; readonly installer: Installer },
): readonly Outcome[] {
  const remediation = installDefinition(installer, wanted);
  const subject = `customresourcedefinition/${wanted}`;
  if (found === undefined) return [error('it is not installed', remediation, subject)];
  if (!found.established) {
    const look = `kubectl describe customresourcedefinition ${wanted}`;
    return [error('the API server does not serve it: it is not Established', look, subject)];
  }
  if (!found.served.includes(VERSION)) {
    return [error(`it does not serve ${VERSION}`, remediation, subject)];
  }
  // The operator manages the definitions, and keeps a label that Helm wrote earlier.
  const isSame = found.release === undefined || found.release === release;
  if (installer.kind === 'operator' || isSame) return differentSchema(found, release, installer);
  const why = `it is of version ${found.release}, and this program is ${release}`;
  const isOlder = found.release.localeCompare(release, 'en', { numeric: true }) < 0;
  const run = `run countersign of version ${found.release}`;
  return [
    warning(
      why,
      isOlder ? `${run}, or upgrade: ${upgradeDefinition(installer, wanted)}` : run,
      subject,
    ),
  ];
}

/** Returns a warning for a definition that differs from that of this version. */
function differentSchema(
  { name, differences = [], release: installed = '' }: Definition,
  release: string,
  installer: Installer,
): readonly Outcome[] {
  const fields = differingFields(differences);
  const isOther = installer.kind !== 'operator' && !['', release].includes(installed);
  if (fields === undefined || isOther) return [];
  const why = `${fields} differs from that of ${release}: the API server may accept what no component reads, or drop fields`;
  return [warning(why, installDefinition(installer, name), `customresourcedefinition/${name}`)];
}

/**
 * Returns an error if the namespace has no Deployment of a component and the cluster no role of
 * one: components that run elsewhere need roles as well. Leases outlive an installation and prove
 * none.
 */
export function absentInstallation({
  deployments,
  roles,
  namespace,
}: InstallationFacts): Outcome | undefined {
  if (!('value' in deployments && 'value' in roles)) return undefined;
  const isThere = deployments.value.some(({ component }) => isComponentName(component));
  if (isThere || roles.value.size > 0) return undefined;
  return error(
    `Countersign is not installed: namespace ${namespace} has no Deployment of a component, and the cluster has no role of one; CAs and bundles of an earlier installation are kept`,
    'install it (docs/how-to/install-with-helm.md), or name its namespace with --namespace',
    `namespace/${namespace}`,
  );
}

/** `components-running` */
export function checkComponents(facts: InstallationFacts): readonly Outcome[] {
  const absent = absentInstallation(facts);
  if (absent !== undefined) return [absent];
  return whereSeen(facts.leases, (leases) => {
    const running = runningComponents(leases, facts.now);
    const wanted = [...COMPONENTS].filter(
      ([name, { optional, leases: has }]) =>
        // replicas-available counts the replicas of a component without Leases.
        has !== false && (optional === undefined || isInstalled(facts, leases, name)),
    );
    const away = wanted.filter(([name]) => !running.has(name));
    return allWell(
      away.map(([name, { description, replicas }]) => {
        const why = `no replica of ${name} holds a Lease. It is the component that does this: ${description}`;
        return notRunning(facts, name, { why, replicas });
      }),
      `${wanted.map(([name]) => name).join(', ')} are running`,
    );
  });
}

function notRunning(
  facts: InstallationFacts,
  component: string,
  { why, replicas }: { readonly why: string; readonly replicas: number },
): Outcome {
  const { deployments, namespace, installer } = facts;
  const name = `countersign-${component}`;
  const subject = `deployment/${name}`;
  const all = 'value' in deployments ? deployments.value : [];
  const found = all.find((each) => each.component === component);
  // If no component has a Deployment, the components run elsewhere.
  if (found === undefined && all.some((each) => isComponentName(each.component)))
    return error(`it does not exist, so that ${why}`, deployAgain(installer), subject);
  if (found?.wanted === 0) {
    return error(
      `it is scaled to 0, so that ${why}`,
      scaleCommand(name, namespace, replicas),
      subject,
    );
  }
  const look = `kubectl -n ${namespace} get pods -l app.kubernetes.io/component=${component}`;
  const remediation =
    found === undefined
      ? look
      : `look at its pods and their log; where they run, new ones have new credentials: ${restartCommand(name, namespace)}`;
  return withCause(error(why, remediation, subject), unboundCause(facts, component));
}

/**
 * Reports whether an optional component is installed: it has a Deployment. If no component has a
 * Deployment, the components run elsewhere and a Lease proves a replica. Otherwise a Lease proves
 * nothing, because it outlives the component.
 */
function isInstalled(
  { deployments }: InstallationFacts,
  leases: readonly Lease[],
  component: string,
): boolean {
  const known = 'value' in deployments ? deployments.value : [];
  const own = known.filter((each) => isComponentName(each.component));
  if (own.length > 0) return own.some((each) => each.component === component);
  return leases.some((each) => componentOf(each) === component);
}

/** `component-clocks` */
export function checkComponentClocks({
  leases,
  now,
  namespace,
}: InstallationFacts): readonly Outcome[] {
  return whereSeen(leases, (all) =>
    allWell(
      all.filter((each) => isHeld(each, now)).flatMap((each) => withWrongClock(each, namespace)),
      "the clocks of all components agree with the API server's",
    ),
  );
}

function withWrongClock(lease: Lease, namespace: string): readonly Outcome[] {
  const offset = offsetOf(lease);
  if (offset === undefined || Math.abs(offset) <= NOTICED_OFFSET_MS) return [];
  const component = componentOf(lease);
  const isPaused = Math.abs(offset) > MAX_CLOCK_OFFSET_MS;
  const why = `where replica ${lease.spec?.holderIdentity ?? ''} of ${component} runs, ${offsetText(offset)}${isPaused ? ', so that it signs nothing' : ''}`;
  const remediation = `correct the clock of its node: kubectl -n ${namespace} get pods -o wide`;
  const make = isPaused ? error : warning;
  return [make(why, remediation, `lease/${lease.metadata.name}`)];
}

/** `replicas-available` */
export function checkReplicas(facts: InstallationFacts): readonly Outcome[] {
  const { deployments, namespace } = facts;
  return whereSeen(deployments, (all) => {
    if (all.length === 0) return [ok('no component runs as a Deployment in this namespace')];
    return allWell(
      all
        .filter(({ available, wanted }) => available < wanted)
        .map((each) =>
          withCause(
            shortOfReplicas(each, namespace),
            unboundCause(facts, each.component) ??
              heldCause(facts, each) ??
              causeOfUnready(facts, each),
          ),
        ),
      `all ${all.length} Deployments have their replicas`,
    );
  });
}

/**
 * Returns the cause of the permissions that an unready component lacks: the first, if each has one.
 * Without these permissions, its replicas are not ready.
 */
function causeOfUnready(
  facts: InstallationFacts,
  { component, lacksOnlyReadiness }: Deployment,
): string | undefined {
  if (!('value' in facts.leases) || lacksOnlyReadiness !== true) return undefined;
  const causes = reportedFaults(facts.leases.value, facts.now)
    .filter((each) => each.component === component && each.fault.reason === RIGHT_MISSING)
    .map((each) => causeOfReport(each, facts).causedBy);
  return causes.includes(undefined) ? undefined : causes[0];
}

/** The name in the message of the API server's admission of ResourceQuotas. */
const QUOTA = /(?:exceeded|failed) quota: ([a-z0-9.-]+)[,:]/;

function shortOfReplicas(
  { name, available, wanted, why: cause }: Deployment,
  namespace: string,
): Outcome {
  const why = [`${available} of ${wanted} replicas are available`, cause ?? []].flat().join(': ');
  const quota = QUOTA.exec(cause ?? '')?.[1];
  const remediation =
    quota === undefined
      ? `kubectl -n ${namespace} describe deployment ${name}`
      : `let the ResourceQuota allow its pods: kubectl -n ${namespace} edit resourcequota ${shellWord(quota)}`;
  const subject = `deployment/${name}`;
  return available === 0 ? error(why, remediation, subject) : warning(why, remediation, subject);
}

/** `versions-equal` */
export function checkVersions({ deployments, installer }: InstallationFacts): readonly Outcome[] {
  return whereSeen(deployments, (all) => {
    // An operator may install the version before its own.
    const components = all.filter(({ component }) => isComponentName(component));
    const images = Map.groupBy(components, ({ image }) => image);
    if (images.size < 2) return [ok('all components run the same image')];
    const text = [...images].map(
      ([image, of]) => `${of.map(({ component }) => component).join(', ')}: ${image}`,
    );
    const why = `the components run different images (${text.join('; ')})`;
    return [warning(why, finishUpgrade(installer))];
  });
}

/** Reasons of faults that another check reports. */
const HAS_CHECK = [...NOTIFICATION_FAULTS, CRL_NOT_SIGNED];

/** `components-report-no-faults` */
export function checkReports(facts: InstallationFacts): readonly Outcome[] {
  return whereSeen(facts.leases, (all) => {
    const outcomes = reportedFaults(all, facts.now)
      .filter(({ fault }) => !HAS_CHECK.includes(fault.reason))
      .map((each) => {
        const { causedBy, remediation = putBack(facts.installer) } = causeOfReport(each, facts);
        return withCause(reported(each, remediation), causedBy);
      });
    // Replicas of one component report the same fault.
    const unique = new Map(outcomes.map((each) => [JSON.stringify(each), each]));
    return allWell([...unique.values()], 'no component reports a fault');
  });
}

/** The finding that causes another one, and what to do about it. */
type Cause = Pick<Outcome, 'causedBy' | 'remediation'>;

/**
 * Returns the cause of a missing permission: an unbound role, or a signer that no component may
 * serve. Empty if it is unknown.
 */
function causeOfReport(
  { component, fault: { reason, signers = [] } }: ReportedFault,
  facts: InstallationFacts,
): Cause {
  if (reason !== RIGHT_MISSING) return {};
  const causedBy = unboundCause(facts, component);
  if (causedBy !== undefined) return { causedBy };
  const listing = listingFaults(facts);
  const [first] = signers;
  if (first === undefined || !signers.every((each) => listing.has(each))) return {};
  return { ...listing.get(first), causedBy: listingCause(first) };
}

/** A fault and the component whose Lease reports it. */
export interface ReportedFault {
  readonly component: string;
  readonly fault: ServingFault;
}

/** Returns the faults that running components report. */
export function reportedFaults(leases: readonly Lease[], now: number): readonly ReportedFault[] {
  return leases
    .filter((each) => isHeld(each, now))
    .flatMap((lease) => {
      const text = lease.metadata.annotations?.[SERVING_REPORT];
      const report = text === undefined ? undefined : readReport(text);
      return (report?.faults ?? []).map((fault) => ({ component: componentOf(lease), fault }));
    });
}

function reported({ component, fault }: ReportedFault, grant: string): Outcome {
  const { reason, message, stops, signers } = fault;
  const whose = signers?.join(', ') ?? (stops ? 'all signers' : undefined);
  const make = stops ? error : warning;
  return make(
    `${component} reports ${reason}${whose === undefined ? '' : ` for ${whose}`}: ${message}`,
    reason === RIGHT_MISSING ? grant : 'do what the message says',
    `deployment/countersign-${component}`,
  );
}
