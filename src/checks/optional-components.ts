// SPDX-License-Identifier: Apache-2.0
/** Checks of what not everybody installs: operators and the ledger. Pure: facts in, outcomes out. */
import { SINGLETON } from '../api/operator/installation.ts';
import { findCondition } from '../api/request/conditions.ts';
import { COMPONENTS } from '../manifests/components.ts';
import type { Deployment, InstallationFacts, OperatedInstallation } from './facts.ts';
import { allWell, error, ok, warning, whereSeen, type Outcome } from './finding.ts';
import { runningComponents } from './leases.ts';

/** Which component acts on which kind. */
const OPERATORS = {
  Countersign: 'operator',
  CertManagerDeployment: 'cert-manager-operator',
} as const satisfies Readonly<Record<OperatedInstallation['kind'], string>>;

/** Those that record in the ledger where there is one. */
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
    'an operator installed the components, and there is no Countersign any longer: nobody heals them',
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
    return [warning(why, `kubectl delete ${kind.toLowerCase()} ${name}`, subject)];
  }
  const away = unattended(object, facts);
  return [
    ...(away === undefined ? [] : [error(away, podsOf(object), subject)]),
    ...conditions(object),
  ];
}

/** The pods of the operator of an object: its namespace is not known here. */
function podsOf({ kind }: OperatedInstallation): string {
  return `kubectl get pods --all-namespaces --selector app.kubernetes.io/component=${OPERATORS[kind]}, and kubectl logs of one`;
}

function unattended(object: OperatedInstallation, facts: InstallationFacts): string | undefined {
  const { kind, generation, status } = object;
  const component = OPERATORS[kind];
  if (status?.observedGeneration !== generation) {
    return `${component} has not looked at generation ${generation} yet`;
  }
  // cert-manager's may run in a namespace that is not looked at.
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
  const describe = `kubectl describe ${kind.toLowerCase()} ${name}`;
  const subject = subjectOf(object);
  const isAvailable = available?.status === 'True';
  const bad = [
    ...(isAvailable ? [] : [['it is not Available', available] as const]),
    ...(degraded?.status === 'True' ? [['it is Degraded', degraded] as const] : []),
  ];
  const make = isAvailable ? warning : error;
  return bad.map(([what, { reason = 'Unknown', message = 'nobody says why' } = {}]) =>
    make(`${what}: ${reason}: ${message}`, describe, subject),
  );
}

/** `ledger-records` */
export function checkLedger({ deployments, leases, now }: InstallationFacts): readonly Outcome[] {
  return whereSeen(deployments, (all) =>
    whereSeen(leases, (found) => {
      const isRunning = runningComponents(found, now).has('ledger');
      const able = all.filter(({ component }) => RECORDERS.has(component));
      const recording = able.filter((each) => modeOf(each) !== 'off');
      if (recording.length === 0) return [notRecorded(isRunning)];
      const silent = able.filter((each) => modeOf(each) === 'off');
      return allWell(
        [
          ...(isRunning ? [] : recording.map(withoutLedger)),
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

function withoutLedger(deployment: Deployment): Outcome {
  const { component } = deployment;
  const todo = 'kubectl -n countersign-system describe deployment countersign-ledger';
  const subject = `deployment/countersign-${component}`;
  return modeOf(deployment) === 'required'
    ? error(
        `${component} answers only what is recorded, and no replica of ledger holds a Lease`,
        todo,
        subject,
      )
    : warning(
        `${component} records, and no replica of ledger holds a Lease: records are lost`,
        todo,
        subject,
      );
}

/** SQLite is on a ReadWriteOnce volume: its node takes the ledger with it. */
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

/** The value of `--ledger-mode`; the last one counts. */
function modeOf({ args }: Deployment): string {
  const flag = '--ledger-mode=';
  return args.findLast((each) => each.startsWith(flag))?.slice(flag.length) ?? 'off';
}

function namesOf(all: readonly Deployment[]): string {
  return all.map(({ component }) => component).join(', ');
}
