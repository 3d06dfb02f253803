// SPDX-License-Identifier: Apache-2.0
/** Checks of optional components: operators and the ledger. Pure: facts in, outcomes out. */
import { SINGLETON } from '#api/operator/installation.ts';
import { findCondition } from '#api/request/conditions.ts';
import { COMPONENTS } from '#install/component-list.ts';
import type { Deployment, InstallationFacts, OperatedInstallation } from './facts.ts';
import { allWell, error, ok, warning, whereSeen, type Outcome } from './finding.ts';
import { scaleCommand } from './installer.ts';
import { runningComponents } from './leases.ts';

/** The operator of each kind. */
const OPERATORS = {
  Countersign: 'operator',
  CertManagerDeployment: 'cert-manager-operator',
} as const satisfies Readonly<Record<OperatedInstallation['kind'], string>>;

/** Components that record in the ledger if there is one. */
const RECORDERS: ReadonlySet<string> = new Set(
  [...COMPONENTS].filter(([, { records }]) => records === true).map(([name]) => name),
);

/** `operator-installs` */
export function checkOperators(facts: InstallationFacts): readonly Outcome[] {
  return whereSeen(facts.operated, (all) => {
    if (all.length === 0 && facts.installer.kind !== 'operator') {
      return [ok('nothing is installed by an operator')];
    }
    const abandoned = all.every(({ kind }) => kind !== 'Countersign');
    return allWell(
      [
        ...(abandoned && facts.installer.kind === 'operator' ? [withoutObject()] : []),
        ...all.flatMap((each) => checkOperated(each, facts)),
      ],
      `${all.map(subjectOf).join(' and ')} is installed as it says`,
    );
  });
}

function withoutObject(): Outcome {
  return warning(
    'an operator installed the components, but its Countersign is deleted: no operator repairs them',
    'kubectl apply -f deploy/operator/countersign.yaml, or install with helm or kubectl',
    `countersign/${SINGLETON}`,
  );
}

function subjectOf({ kind, name }: OperatedInstallation): string {
  return `${kind.toLowerCase()}/${name}`;
}

function checkOperated(object: OperatedInstallation, facts: InstallationFacts): readonly Outcome[] {
  const subject = subjectOf(object);
  const { kind, name } = object;
  if (name !== SINGLETON) {
    const why = `no operator looks at it: the only name is ${SINGLETON}`;
    return [warning(why, `kubectl delete ${kind.toLowerCase()}s ${name}`, subject)];
  }
  const away = unattended(object, facts);
  return [
    ...(away === undefined ? [] : [error(away, operatorAway(object, facts), subject)]),
    ...conditions(object),
  ];
}

/** Returns the advice for an operator that does not run. */
function operatorAway(
  { kind }: OperatedInstallation,
  { deployments, namespace }: InstallationFacts,
): string {
  const component = OPERATORS[kind];
  const all = 'value' in deployments ? deployments.value : [];
  const found = all.find((each) => each.component === component);
  if (found?.wanted === 0) return scaleCommand(found.name, namespace, 1);
  // The namespace of cert-manager-operator is unknown.
  return `look at its pods, and at the log of one: kubectl get pods --all-namespaces --selector app.kubernetes.io/component=${component}`;
}

function unattended(object: OperatedInstallation, facts: InstallationFacts): string | undefined {
  const { kind, generation, status } = object;
  const component = OPERATORS[kind];
  if (status?.observedGeneration !== generation) {
    return `${component} has not looked at generation ${generation} yet`;
  }
  // cert-manager-operator may run in another namespace, whose Leases are not read.
  if (kind !== 'Countersign' || !('value' in facts.leases)) return undefined;
  return runningComponents(facts.leases.value, facts.now).has(component)
    ? undefined
    : `no replica of ${component} holds a Lease: what is changed or deleted is not healed`;
}

function conditions(object: OperatedInstallation): readonly Outcome[] {
  const { kind, name, status } = object;
  if (status === undefined) return [];
  const [available, degraded] = ['Available', 'Degraded'].map((type) =>
    findCondition(status.conditions, type),
  );
  const describe = `kubectl describe ${kind.toLowerCase()}s ${name}`;
  const subject = subjectOf(object);
  const isAvailable = available?.status === 'True';
  const bad = [
    ...(isAvailable ? [] : [['it is not Available', available] as const]),
    ...(degraded?.status === 'True' ? [['it is Degraded', degraded] as const] : []),
  ];
  const make = isAvailable ? warning : error;
  return bad.map(([what, { reason = 'Unknown', message = 'no component reports why' } = {}]) =>
    make(`${what}: ${reason}: ${message}`, describe, subject),
  );
}

/** `ledger-records` */
export function checkLedger({
  deployments,
  leases,
  now,
  namespace,
}: InstallationFacts): readonly Outcome[] {
  return whereSeen(deployments, (all) =>
    whereSeen(leases, (found) => {
      const isRunning = runningComponents(found, now).has('ledger');
      const able = all.filter(({ component }) => RECORDERS.has(component));
      const recording = able.filter((each) => modeOf(each) !== 'off');
      if (recording.length === 0) return [notRecorded(isRunning)];
      const silent = able.filter((each) => modeOf(each) === 'off');
      return allWell(
        [
          ...(isRunning ? [] : recording.map((each) => withoutLedger(each, namespace))),
          ...onOneVolume(all, recording),
          ...silent.map(({ component }) =>
            warning(
              `${component} does not record what it does, unlike ${namesOf(recording)}`,
              'set the mode of the ledger for all components',
              `deployment/countersign-${component}`,
            ),
          ),
        ],
        `${recording.map((each) => `${each.component} (${modeOf(each)})`).join(', ')} record what they do, and the ledger runs`,
      );
    }),
  );
}

function notRecorded(isRunning: boolean): Outcome {
  if (!isRunning)
    return ok('nothing is recorded: no component has --ledger-mode, and no ledger runs');
  return warning(
    'the ledger runs, and no component records: none has --ledger-mode',
    'set the mode of the ledger, or leave it out',
    'deployment/countersign-ledger',
  );
}

function withoutLedger(deployment: Deployment, namespace: string): Outcome {
  const { component } = deployment;
  const remediation = `kubectl -n ${namespace} describe deployment countersign-ledger`;
  const subject = `deployment/countersign-${component}`;
  return modeOf(deployment) === 'required'
    ? error(
        `${component} answers only what is recorded, and no replica of ledger holds a Lease`,
        remediation,
        subject,
      )
    : warning(
        `${component} records, and no replica of ledger holds a Lease: records wait in memory, and a restart loses them`,
        remediation,
        subject,
      );
}

/** `api-services-available` */
export function checkApiServices({
  apiServices,
  deployments,
  namespace,
}: InstallationFacts): readonly Outcome[] {
  return whereSeen(apiServices, (all) => {
    const hasLedger =
      !('value' in deployments) ||
      deployments.value.some(({ component }) => component === 'ledger');
    const look = `kubectl -n ${namespace} describe deployment countersign-ledger`;
    return allWell(
      all
        .filter(({ available }) => !available)
        .map(({ name, why = 'the condition Available is missing' }) =>
          error(
            `it is not Available (${why}): no namespace of the cluster can be deleted`,
            hasLedger ? look : `kubectl delete apiservice ${name}`,
            `apiservice/${name}`,
          ),
        ),
      all.length === 0
        ? 'Countersign has no aggregated API'
        : 'the aggregated API of the ledger is Available',
    );
  });
}

/** Warns about SQLite on a ReadWriteOnce volume: if its node fails, the ledger fails with it. */
function onOneVolume(
  all: readonly Deployment[],
  recording: readonly Deployment[],
): readonly Outcome[] {
  const required = recording.filter((each) => modeOf(each) === 'required');
  const ledger = all.find(({ component }) => component === 'ledger');
  const isOnOne = ledger?.args.every((each) => !/^--database(-url)?=/.test(each)) === true;
  if (required.length === 0 || !isOnOne) return [];
  return [
    warning(
      `the ledger is on one volume (SQLite), and ${namesOf(required)} answer only what is recorded: while its node is lost nothing is issued`,
      'give it a PostgreSQL database (ledger.postgres.secret), or set ledger.mode=best-effort; or accept that the volume moves to another node first',
      'deployment/countersign-ledger',
    ),
  ];
}

/** Returns the value of the last `--ledger-mode`. */
function modeOf({ args }: Deployment): string {
  const flag = '--ledger-mode=';
  return args.findLast((each) => each.startsWith(flag))?.slice(flag.length) ?? 'off';
}

function namesOf(all: readonly Deployment[]): string {
  return all.map(({ component }) => component).join(', ');
}
