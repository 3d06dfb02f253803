// SPDX-License-Identifier: Apache-2.0
/** Checks of what is installed. Pure: facts in, outcomes out. */
import { GROUP, VERSION } from '../api/signer/cluster-signer.ts';
import {
  NOTIFICATION_FAULTS,
  SERVING_REPORT,
  readReport,
  type ServingFault,
} from '../api/serving/report.ts';
import type { Lease } from '../kube/lease/lease.ts';
import { COMPONENTS } from '../manifests/components.ts';
import type { Definition, Deployment, InstallationFacts } from './facts.ts';
import { finishUpgrade, installDefinitions, putBack, type Installer } from './installer.ts';
import { MAX_CLOCK_OFFSET_MS, offsetText } from '../runtime/component/server-time.ts';
import { RIGHT_MISSING } from '../runtime/rbac/rights-faults.ts';
import { allWell, error, ok, warning, whereSeen, type Outcome } from './finding.ts';
import { NOTICED_OFFSET_MS } from './kubernetes.ts';
import { componentOf, isHeld, offsetOf, runningComponents } from './leases.ts';

/** Those without which there are no signers. */
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
  return whereSeen(definitions, (found) =>
    allWell(
      DEFINITIONS.flatMap((wanted) =>
        checkDefinition(
          wanted,
          found.find(({ name }) => name === wanted),
          { release, todo: installDefinitions(installer) },
        ),
      ),
      `${DEFINITIONS.join(' and ')} are installed`,
    ),
  );
}

function checkDefinition(
  wanted: string,
  found: Definition | undefined,
  { release, todo }: { readonly release: string; readonly todo: string },
): readonly Outcome[] {
  const subject = `customresourcedefinition/${wanted}`;
  if (found === undefined) return [error('it is not installed', todo, subject)];
  if (!found.established) {
    const look = `kubectl describe customresourcedefinition ${wanted}`;
    return [error('the API server does not serve it: it is not Established', look, subject)];
  }
  if (!found.served.includes(VERSION)) {
    return [error(`it does not serve ${VERSION}`, todo, subject)];
  }
  if (found.release === undefined || found.release === release) return [];
  const why = `it is of version ${found.release}, and this program is ${release}`;
  return [warning(why, 'run countersign of the version that is installed, or upgrade', subject)];
}

/** `components-running` */
export function checkComponents(facts: InstallationFacts): readonly Outcome[] {
  return whereSeen(facts.leases, (leases) => {
    const running = runningComponents(leases, facts.now);
    const wanted = [...COMPONENTS].filter(
      ([name, { optional, leases: has }]) =>
        // Replicas of one without Leases are counted by replicas-available.
        has !== false && (optional === undefined || isInstalled(facts, leases, name)),
    );
    const away = wanted.filter(([name]) => !running.has(name));
    return allWell(
      away.map(([name, { description }]) =>
        error(
          `no replica of ${name} holds a Lease. It is the component that does this: ${description}`,
          `kubectl -n countersign-system get pods -l app.kubernetes.io/component=${name}`,
          `deployment/countersign-${name}`,
        ),
      ),
      `${wanted.map(([name]) => name).join(', ')} are running`,
    );
  });
}

/** Whether a component that may be left out is there: it has a Deployment, or had a replica somewhere. */
function isInstalled(
  { deployments }: InstallationFacts,
  leases: readonly Lease[],
  component: string,
): boolean {
  if (leases.some((each) => componentOf(each) === component)) return true;
  return 'value' in deployments && deployments.value.some((each) => each.component === component);
}

/** `component-clocks` */
export function checkComponentClocks({ leases, now }: InstallationFacts): readonly Outcome[] {
  return whereSeen(leases, (all) =>
    allWell(
      all.filter((each) => isHeld(each, now)).flatMap(withWrongClock),
      "the clocks of all components agree with the API server's",
    ),
  );
}

function withWrongClock(lease: Lease): readonly Outcome[] {
  const offset = offsetOf(lease);
  if (offset === undefined || Math.abs(offset) <= NOTICED_OFFSET_MS) return [];
  const component = componentOf(lease);
  const isPaused = Math.abs(offset) > MAX_CLOCK_OFFSET_MS;
  const why = `where replica ${lease.spec?.holderIdentity ?? ''} of ${component} runs, ${offsetText(offset)}${isPaused ? ', so that it signs nothing' : ''}`;
  const todo = 'correct the clock of its node: kubectl -n countersign-system get pods -o wide';
  const make = isPaused ? error : warning;
  return [make(why, todo, `lease/${lease.metadata.name}`)];
}

/** `replicas-available` */
export function checkReplicas({ deployments }: InstallationFacts): readonly Outcome[] {
  return whereSeen(deployments, (all) => {
    if (all.length === 0) return [ok('no component runs as a Deployment in this namespace')];
    return allWell(
      all.filter(({ available, wanted }) => available < wanted).map(shortOfReplicas),
      `all ${all.length} Deployments have their replicas`,
    );
  });
}

function shortOfReplicas({ name, available, wanted, why: cause }: Deployment): Outcome {
  const why = [`${available} of ${wanted} replicas are available`, cause ?? []].flat().join(': ');
  const todo = `kubectl -n countersign-system describe deployment ${name}`;
  const subject = `deployment/${name}`;
  return available === 0 ? error(why, todo, subject) : warning(why, todo, subject);
}

/** `versions-equal` */
export function checkVersions({ deployments, installer }: InstallationFacts): readonly Outcome[] {
  return whereSeen(deployments, (all) => {
    // An operator may install the version before its own.
    const components = all.filter(({ component }) => isComponent(component));
    const images = Map.groupBy(components, ({ image }) => image);
    if (images.size < 2) return [ok('all components run the same image')];
    const text = [...images].map(
      ([image, of]) => `${of.map(({ component }) => component).join(', ')}: ${image}`,
    );
    const why = `the components run different images (${text.join('; ')})`;
    return [warning(why, finishUpgrade(installer))];
  });
}

function isComponent(name: string): boolean {
  return (COMPONENTS as ReadonlyMap<string, unknown>).has(name);
}

/** `components-report-no-faults` */
export function checkReports({ leases, now, installer }: InstallationFacts): readonly Outcome[] {
  return whereSeen(leases, (all) => {
    const outcomes = reportedFaults(all, now)
      .filter(({ fault }) => !NOTIFICATION_FAULTS.includes(fault.reason))
      .map((each) => reported(each, installer));
    // Replicas report the same.
    const unique = new Map(outcomes.map((each) => [JSON.stringify(each), each]));
    return allWell([...unique.values()], 'no component reports a fault');
  });
}

/** A fault, and whose Lease reports it. */
export interface ReportedFault {
  readonly component: string;
  readonly fault: ServingFault;
}

/** What components that run report. */
export function reportedFaults(leases: readonly Lease[], now: number): readonly ReportedFault[] {
  return leases
    .filter((each) => isHeld(each, now))
    .flatMap((lease) => {
      const text = lease.metadata.annotations?.[SERVING_REPORT];
      const report = text === undefined ? undefined : readReport(text);
      return (report?.faults ?? []).map((fault) => ({ component: componentOf(lease), fault }));
    });
}

function reported({ component, fault }: ReportedFault, installer: Installer): Outcome {
  const { reason, message, stops, signers } = fault;
  const whose = signers === undefined ? 'all signers' : signers.join(', ');
  const make = stops ? error : warning;
  return make(
    `${component} reports ${reason} for ${whose}: ${message}`,
    reason === RIGHT_MISSING ? putBack(installer) : 'do what the message says',
    `deployment/countersign-${component}`,
  );
}
