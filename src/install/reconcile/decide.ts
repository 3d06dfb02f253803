// SPDX-License-Identifier: Apache-2.0
import type { InstallationObject, InstallationStatus } from '#api/operator/installation.ts';
import { conditionMessage, setCondition, type Condition } from '#api/request/conditions.ts';
import type { PassReport } from '#kube/apply/reconcile-all.ts';
import { unexpectedText } from './unexpected-dependents.ts';
import { isRefusal, type DesiredInstallation, type Refusal } from './desired.ts';

/** The inputs of a status. */
export interface InstallationSnapshot {
  readonly object: InstallationObject;
  /** Result of a pass, or the reason why there was none. */
  readonly outcome:
    | Refusal
    | {
        readonly desired: Pick<DesiredInstallation, 'oldest' | 'unknownArguments'>;
        readonly report: PassReport;
        /** Permissions lost since the installation began. The pass continued without them. */
        readonly lacking?: Refusal | undefined;
      };
  /** Version of this process. */
  readonly operatorVersion: string;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/** Limit of a message in bytes, as in the schema. */
const MAX_CONDITION_BYTES = 4096;

type Finding = readonly [
  type: 'Available' | 'Progressing' | 'Degraded' | 'Upgradeable',
  status: boolean | undefined,
  reason: string,
  message: string,
];

/** Reason of `Progressing` while the spec is rejected. */
const REFUSED = 'Refused';

/**
 * Reports whether an operator of this version has worked on this generation before. If so, a lost
 * permission stops only its own objects. If not, the operator starts nothing that could remain half
 * done.
 */
export function isUnderWay(
  { metadata, status }: InstallationObject,
  operatorVersion: string,
): boolean {
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
  return (
    progressing !== undefined &&
    progressing.reason !== REFUSED &&
    progressing.observedGeneration === metadata.generation &&
    status?.operatorVersion === operatorVersion
  );
}

/** Returns the status after a pass, or after a refusal. It has no side effects. */
export function decideStatus(snapshot: InstallationSnapshot): InstallationStatus {
  const { object, outcome, operatorVersion, now } = snapshot;
  const findings = isRefusal(outcome) ? ofRefusal(snapshot, outcome) : ofPass(outcome);
  const { generation } = object.metadata;
  const conditions = findings.reduce<readonly Condition[]>((before, finding) => {
    const [type, status, reason, message] = finding;
    return setCondition(before, {
      type,
      reason,
      message: conditionMessage(message, MAX_CONDITION_BYTES),
      status: status === undefined ? 'Unknown' : status ? 'True' : 'False',
      lastTransitionTime: `${new Date(now).toISOString().slice(0, 19)}Z`,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    });
  }, object.status?.conditions ?? []);
  const installed = isInstalled(outcome) ? object.spec.version : object.status?.version;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(installed === undefined ? {} : { version: installed }),
    desiredVersion: object.spec.version,
    operatorVersion,
    conditions,
  };
}

/** Keep the known state of the components, which this pass did not read. */
function ofRefusal({ object }: InstallationSnapshot, refusal: Refusal): readonly Finding[] {
  const { reason, message } = refusal;
  const before = object.status?.conditions?.find(({ type }) => type === 'Available');
  const available: Finding = ['Available', undefined, REFUSED, 'nothing is installed yet'];
  return [
    ...(before === undefined ? [available] : []),
    ['Progressing', false, REFUSED, 'nothing is changed'],
    ['Degraded', true, reason, message],
    ['Upgradeable', false, reason, 'the spec is refused'],
  ];
}

type PassResult = Exclude<InstallationSnapshot['outcome'], Refusal>;

function ofPass({ desired, report, lacking }: PassResult): readonly Finding[] {
  const progressing = progressOf(report);
  const degraded = degradationOf(report, lacking);
  return [availabilityOf(report), progressing, degraded, upgradeOf(desired, progressing, degraded)];
}

function availabilityOf({ rollouts }: PassReport): Finding {
  const without = rollouts.filter(({ available }) => !available).map(({ name }) => name);
  if (rollouts.length > 0 && without.length === 0)
    return ['Available', true, 'ComponentsAvailable', 'every component has pods that answer'];
  const message = `without an available pod: ${without.join(', ') || 'every component'}`;
  return ['Available', false, 'ComponentsUnavailable', message];
}

function progressOf({ rollouts, waiting, narrowing }: PassReport): Finding {
  const going = rollouts.filter(({ done }) => !done).map(({ message }) => message);
  const waits = waiting.length === 0 ? [] : [`${waiting.length} objects are made afterwards`];
  const keeps =
    narrowing.length === 0
      ? []
      : [`${narrowing.length} roles and bindings keep until then what old pods may need`];
  const message = [...going, ...waits, ...keeps].join('; ');
  if (going.length > 0) return ['Progressing', true, 'RollingOut', message];
  return ['Progressing', false, 'RolledOut', 'every component runs as it is desired'];
}

/** Objects that a message names with their problem. It counts the rest. */
const MAX_PROBLEMS_NAMED = 5;

function degradationOf(
  { problems, rollouts, unexpected }: PassReport,
  lacking: Refusal | undefined,
): Finding {
  const stuck = rollouts.filter((each) => each.stuck).map(({ message }) => message);
  const message = [
    ...(lacking === undefined ? [] : [lacking.message]),
    ...firstOf(problems),
    ...firstOf(stuck),
    ...(unexpected.length === 0 ? [] : [unexpectedText(unexpected)]),
  ].join('; ');
  if (lacking !== undefined) return ['Degraded', true, lacking.reason, message];
  if (problems.length > 0) return ['Degraded', true, 'ObjectsDiffer', message];
  if (stuck.length > 0) return ['Degraded', true, 'RolloutStuck', message];
  return ['Degraded', false, 'AsDesired', message || 'every object is as it is desired'];
}

function firstOf(texts: readonly string[]): readonly string[] {
  const more = texts.length - MAX_PROBLEMS_NAMED;
  return more > 0 ? [...texts.slice(0, MAX_PROBLEMS_NAMED), `and ${more} more`] : texts;
}

function upgradeOf(
  { oldest, unknownArguments }: PassResult['desired'],
  [, progressing]: Finding,
  [, degraded, reason]: Finding,
): Finding {
  if (degraded === true) return ['Upgradeable', false, reason, 'it is degraded'];
  if (unknownArguments.length > 0) {
    const message = `spec.dangerZone lets through what this version does not know: ${unknownArguments.join(', ')}`;
    return ['Upgradeable', false, 'DangerZone', message];
  }
  if (oldest) {
    const message = 'the next operator does not install this version; raise spec.version first';
    return ['Upgradeable', false, 'OldestVersion', message];
  }
  if (progressing === true) return ['Upgradeable', false, 'RollingOut', 'a rollout is under way'];
  return ['Upgradeable', true, 'AsExpected', 'spec.version may be raised'];
}

function isInstalled(outcome: InstallationSnapshot['outcome']): boolean {
  if (isRefusal(outcome)) return false;
  const { rollouts, problems, failed, waiting } = outcome.report;
  const clean = problems.length === 0 && !failed && waiting.length === 0;
  return clean && rollouts.length > 0 && rollouts.every(({ done }) => done);
}
