// SPDX-License-Identifier: Apache-2.0
import {
  secretOf,
  type AuthorityPhase,
  type AuthorityStatus,
  type ClusterSigner,
  type ClusterSignerStatus,
} from '../../../api/signer/cluster-signer.ts';
import { findCondition, type Condition } from '../../../api/request/conditions.ts';
import { keyOf, type KubeObject, type Secret } from '../../../api/object/object.ts';
import { CROSS_CERTIFICATE } from '../../../api/signer/rotation-annotations.ts';
import { AWAITING_COMPONENTS } from '../../../api/serving/report.ts';
import { isNamespaced } from '../../../api/signer/signer.ts';
import type { EventDetails } from '../../../kube/events/body.ts';
import type { RotationStep } from '../../../rotation/next-step.ts';
import type { Component } from '../../../runtime/component/component.ts';

/** The object that an Event is about. */
export function regarding({ apiVersion, kind, metadata }: KubeObject): EventDetails['regarding'] {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

/**
 * Reports what is new in a status: the difference to the previous one, without any other memory. There is no
 * permission to write Events for a Signer: its status has everything.
 */
export function eventsOf(signer: KubeObject, status: ClusterSignerStatus): readonly EventDetails[] {
  if (isNamespaced(signer)) return [];
  const before = (signer as Partial<ClusterSigner>).status;
  return [
    ...changedConditions(before, status).flatMap(({ was, is }) => warningOf(signer, was, is)),
    ...retainedEvents(signer, before, status),
    ...relearnedEvents(signer, before, status),
    ...phasesOf(before?.authorities ?? [], status.authorities ?? []).map(({ reason, note }) => ({
      ...{ regarding: regarding(signer), type: 'Normal' as const },
      ...{ reason, action: 'Rotate', note },
    })),
  ];
}

/** Trust that this ClusterSigner did not create itself: each anchor is named once, when it is inherited. */
function retainedEvents(
  signer: KubeObject,
  before: ClusterSignerStatus | undefined,
  { retainedAnchors = [] }: ClusterSignerStatus,
): readonly EventDetails[] {
  const known = new Set(before?.retainedAnchors?.map(({ fingerprint }) => fingerprint));
  return retainedAnchors
    .filter(({ fingerprint }) => !known.has(fingerprint))
    .map(({ fingerprint, until }) => ({
      ...{ regarding: regarding(signer), type: 'Warning' as const },
      ...{ reason: 'AnchorRetained', action: 'Attest' },
      note: `the bundle keeps ${fingerprint} until ${until}: it was published for an earlier ClusterSigner. If you do not know it, name it in spec.authority.managed.distrusted`,
    }));
}

/** A CA that enters as Retiring was listed in a status that was lost; the bundle told of it. */
function relearnedEvents(
  signer: KubeObject,
  before: ClusterSignerStatus | undefined,
  { authorities = [] }: ClusterSignerStatus,
): readonly EventDetails[] {
  const known = new Set(before?.authorities?.map(({ fingerprint }) => fingerprint));
  return authorities
    .filter(({ fingerprint, phase }) => phase === 'Retiring' && !known.has(fingerprint))
    .map(({ fingerprint, leavesExpireBy = '' }) => ({
      ...{ regarding: regarding(signer), type: 'Warning' as const },
      ...{ reason: 'AnchorRetained', action: 'Attest' },
      note: `the bundle keeps ${fingerprint} until ${leavesExpireBy}: the status of this ClusterSigner was lost, and the bundle still had it. If you do not know it, name it in spec.authority.managed.distrusted`,
    }));
}

/** One log line for each change, after it is written. */
export function logChanges(
  { log }: Component,
  signer: KubeObject,
  status: ClusterSignerStatus,
): void {
  const before = (signer as Partial<ClusterSigner>).status;
  const { kind, metadata } = signer;
  const fields = { kind, name: keyOf(metadata) };
  for (const { is } of changedConditions(before, status)) {
    const { type, status: value, reason = '', message: detail = '' } = is;
    log.info({ ...fields, reason, detail }, `${kind} ${type}=${value}`);
  }
  for (const { reason, note } of phasesOf(before?.authorities ?? [], status.authorities ?? [])) {
    log.info({ ...fields, reason }, note);
  }
}

interface ChangedCondition {
  readonly was: Condition | undefined;
  readonly is: Condition;
}

function changedConditions(
  before: ClusterSignerStatus | undefined,
  status: ClusterSignerStatus,
): readonly ChangedCondition[] {
  return ['Ready', 'Served', 'Degraded', 'RotationDue'].flatMap((type) => {
    const was = findCondition(before?.conditions, type);
    const is = findCondition(status.conditions, type);
    const isNew = is !== undefined && (was?.status !== is.status || was.reason !== is.reason);
    return isNew ? [{ was, is }] : [];
  });
}

/** A warning Event for a condition that needs attention; no Event for success. */
function warningOf(
  signer: KubeObject,
  was: Condition | undefined,
  is: Condition,
): readonly EventDetails[] {
  const { reason = '', message: note = '' } = is;
  if (!isWarning(is) || was?.reason === reason) return [];
  return [{ regarding: regarding(signer), type: 'Warning', reason, action: 'Check', note }];
}

/** What a new signer goes through: no Event. */
const SETTLING = ['Initializing', AWAITING_COMPONENTS];

/** A regular rotation shows in the phases of its CAs; only an urgent one is a warning. */
function isWarning({ type, status, reason }: Condition): boolean {
  if (type === 'Ready') return status !== 'True' && !SETTLING.includes(reason ?? '');
  return status === 'True' && (type === 'Degraded' || reason === 'LongestLeaf');
}

/** Logs a rotation step that was written to the CA Secret, with its reason, and records its Events. */
export function recordStep(
  component: Component,
  signer: ClusterSigner,
  step: RotationStep,
  written: Secret,
): void {
  const { namespace, name } = secretOf(signer.spec);
  const why = 'due' in step && step.due !== undefined ? `: ${step.due.message}` : '';
  const fields = { signer: signer.spec.signerName, secret: name, step: step.kind };
  component.log.info(fields, `rotation step ${step.kind} written to the CA Secret${why}`);
  if (step.kind === 'make') {
    const note = `created a new CA in Secret ${namespace}/${name}${why}`;
    record(component, signer, 'AuthorityCreated', note);
  }
  if (step.kind === 'activate' && signer.spec.authority.managed?.crossSigned === true) {
    const isCertified = written.data?.[CROSS_CERTIFICATE] !== undefined;
    const [reason, note] = isCertified ? CROSS_SIGNED : NOT_CROSS_SIGNED;
    record(component, signer, reason, note);
  }
}

const CROSS_SIGNED = [
  'AuthorityCrossSigned',
  'the previous CA certified the key of the active CA: verifiers that have only the old root accept its leaves',
] as const;

/** Not a fault: verifiers that read the bundle are not affected. */
const NOT_CROSS_SIGNED = [
  'AuthorityNotCrossSigned',
  'verifiers that have only the old root reject the leaves of the active CA: the previous CA was created without crossSigned, can no longer be used, or status.crossCertificates is full',
] as const;

const PHASES: Readonly<Record<AuthorityPhase, string>> = {
  Prepared: 'is published and signs once its anchor has been published for the propagation time',
  Active: 'is active and signs from now on',
  Retiring: 'no longer signs; it is trusted until its last leaf has expired',
  Distrusted: 'is distrusted: it no longer signs, and its anchor leaves the bundle for good',
};

function phasesOf(
  before: readonly AuthorityStatus[],
  after: readonly AuthorityStatus[],
): readonly { readonly reason: string; readonly note: string }[] {
  const entered = after
    .filter((is) => before.find(isSameCa(is))?.phase !== is.phase)
    .map(({ fingerprint, phase, leavesExpireBy }) => {
      const until = leavesExpireBy === undefined ? '' : `, at ${leavesExpireBy} at the latest`;
      return { reason: `Authority${phase}`, note: `${fingerprint} ${PHASES[phase]}${until}` };
    });
  const gone = before
    .filter((was) => !after.some(isSameCa(was)))
    .map(({ fingerprint, phase }) => ({
      reason: 'AuthorityGone',
      note: `${fingerprint}, which was ${phase}, is removed: its last leaf has expired`,
    }));
  return [...entered, ...gone];
}

function isSameCa({ fingerprint }: AuthorityStatus): (each: AuthorityStatus) => boolean {
  return (each) => each.fingerprint === fingerprint;
}

function record(component: Component, signer: KubeObject, reason: string, note: string): void {
  component.log.info({ kind: signer.kind, name: keyOf(signer.metadata), reason }, note);
  event(component, signer, { type: 'Normal', reason, action: 'Rotate', note });
}

/** There is no permission to write Events for a Signer: its status has everything. */
function event(
  component: Component,
  signer: KubeObject,
  details: Omit<EventDetails, 'regarding' | 'related'>,
): void {
  if (isNamespaced(signer)) return;
  component.events.record({ regarding: regarding(signer), ...details });
}
