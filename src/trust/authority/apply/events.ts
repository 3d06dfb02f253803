// SPDX-License-Identifier: Apache-2.0
import {
  secretOf,
  type AuthorityStatus,
  type ClusterSigner,
  type ClusterSignerStatus,
} from '#api/signer/cluster-signer.ts';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import { keyOf, type KubeObject, type Secret } from '#api/object/object.ts';
import { CROSS_CERTIFICATE } from '#api/signer/rotation-annotations.ts';
import { AWAITING_COMPONENTS } from '#api/serving/report.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import type { EventDetails } from '#kube/events/body.ts';
import type { RotationStep } from '#ca/rotation/next-step.ts';
import type { Component } from '#component/contract.ts';
import * as messages from '../messages.ts';
import type { StatusedSigner } from '#api/signer/read-signer.ts';

/** Returns the object that an Event is about. */
export function regarding({ apiVersion, kind, metadata }: KubeObject): EventDetails['regarding'] {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

/**
 * Returns Events for the differences between two statuses, without other memory. A Signer gets
 * none, since authority has no permission for Events in its namespace. Its status shows everything.
 */
export function eventsOf(
  signer: StatusedSigner,
  status: ClusterSignerStatus,
): readonly EventDetails[] {
  if (isNamespaced(signer)) return [];
  const before = signer.status;
  return [
    ...changedConditions(before, status).flatMap(({ was, is }) => warningOf(signer, was, is)),
    ...retainedEvents(signer, before, status),
    ...relearnedEvents(signer, before, status),
    ...phasesOf(before?.authorities ?? [], status.authorities ?? []).map(({ reason, note }) => ({
      regarding: regarding(signer),
      type: 'Normal' as const,
      reason,
      action: 'Rotate',
      note,
    })),
  ];
}

/** Returns an Event for each newly retained anchor, since this ClusterSigner did not create it. */
function retainedEvents(
  signer: KubeObject,
  before: ClusterSignerStatus | undefined,
  { retainedAnchors = [] }: ClusterSignerStatus,
): readonly EventDetails[] {
  const known = new Set(before?.retainedAnchors?.map(({ fingerprint }) => fingerprint));
  return retainedAnchors
    .filter(({ fingerprint }) => !known.has(fingerprint))
    .map(({ fingerprint, until }) => ({
      regarding: regarding(signer),
      type: 'Warning' as const,
      reason: 'AnchorRetained',
      action: 'Attest',
      note: messages.retainedAnchor(fingerprint, until),
    }));
}

/**
 * Returns an Event for each CA that enters as Retiring: the status was lost, and the bundle still
 * listed it.
 */
function relearnedEvents(
  signer: KubeObject,
  before: ClusterSignerStatus | undefined,
  { authorities = [] }: ClusterSignerStatus,
): readonly EventDetails[] {
  const known = new Set(before?.authorities?.map(({ fingerprint }) => fingerprint));
  return authorities
    .filter(({ fingerprint, phase }) => phase === 'Retiring' && !known.has(fingerprint))
    .map(({ fingerprint, leavesExpireBy = '' }) => ({
      regarding: regarding(signer),
      type: 'Warning' as const,
      reason: 'AnchorRetained',
      action: 'Attest',
      note: messages.relearnedAnchor(fingerprint, leavesExpireBy),
    }));
}

/** Logs one line for each change, after it is written. */
export function logChanges(
  { log }: Component,
  signer: StatusedSigner,
  status: ClusterSignerStatus,
): void {
  const before = signer.status;
  const { kind, metadata } = signer;
  const fields = { kind, name: keyOf(metadata) };
  for (const { is } of changedConditions(before, status)) {
    const { type, status: value, reason = '', message: detail = '' } = is;
    log.info({ ...fields, reason, detail }, messages.conditionChanged(kind, type, value));
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
  return ['Ready', 'Served', 'Degraded', 'RotationDue', AWAITING].flatMap((type) => {
    const was = findCondition(before?.conditions, type);
    const is = findCondition(status.conditions, type);
    const isNew = is !== undefined && (was?.status !== is.status || was.reason !== is.reason);
    return isNew ? [{ was, is }] : [];
  });
}

/** Returns a warning Event for a condition that needs attention, and none for success. */
function warningOf(
  signer: KubeObject,
  was: Condition | undefined,
  is: Condition,
): readonly EventDetails[] {
  const { reason = '', message: note = '' } = is;
  if (!isWarning(is) || was?.reason === reason) return [];
  return [{ regarding: regarding(signer), type: 'Warning', reason, action: 'Check', note }];
}

/** Reasons that every new signer passes through, without an Event. */
const SETTLING = ['Initializing', AWAITING_COMPONENTS];

const AWAITING = 'AwaitingCertificate';

/** Reasons of the condition that need no attention: the request itself has an Event. */
const UNREMARKABLE = ['NotAwaited', 'CertificateRequested'];

/**
 * Reports whether a condition is a warning. A regular rotation shows in the phases of its CAs, so
 * only an urgent one counts.
 */
function isWarning({ type, status, reason }: Condition): boolean {
  if (type === AWAITING) return !UNREMARKABLE.includes(reason ?? '');
  if (type === 'Ready') return status !== 'True' && !SETTLING.includes(reason ?? '');
  return status === 'True' && (type === 'Degraded' || reason === 'LongestLeaf');
}

/**
 * Logs a rotation step that was written to the CA Secret, with its reason, and records its Events.
 */
export function recordStep(
  component: Component,
  signer: ClusterSigner,
  step: RotationStep,
  written: Secret,
): void {
  const { namespace, name } = secretOf(signer.spec);
  const why = 'due' in step && step.due !== undefined ? messages.due(step.due.message) : '';
  const fields = { signer: signer.spec.signerName, secret: name, step: step.kind };
  component.log.info(fields, messages.stepWritten(step.kind, why));
  if (step.kind === 'make') {
    const note = messages.caCreated(namespace, name, why);
    record(component, signer, 'AuthorityCreated', note);
  }
  recordUpstream(component, signer, step, why);
  if (step.kind === 'activate' && signer.spec.authority.managed?.crossSigned === true) {
    const isCertified = written.data?.[CROSS_CERTIFICATE] !== undefined;
    const [reason, note] = isCertified ? CROSS_SIGNED : NOT_CROSS_SIGNED;
    record(component, signer, reason, note);
  }
}

/** Records the steps of a CA whose certificate another CA signs. */
function recordUpstream(
  component: Component,
  signer: ClusterSigner,
  step: RotationStep,
  why: string,
): void {
  const { namespace, name } = secretOf(signer.spec);
  if (step.kind === 'request') {
    record(
      component,
      signer,
      'CertificateRequested',
      messages.certificateRequested(namespace, name, why),
    );
  }
  if (step.kind === 'install') {
    record(
      component,
      signer,
      'CertificateInstalled',
      messages.certificateInstalled(namespace, name),
    );
  }
}

const CROSS_SIGNED = ['AuthorityCrossSigned', messages.CROSS_SIGNED] as const;

/** Not a fault, since verifiers that read the bundle are not affected. */
const NOT_CROSS_SIGNED = ['AuthorityNotCrossSigned', messages.NOT_CROSS_SIGNED] as const;

function phasesOf(
  before: readonly AuthorityStatus[],
  after: readonly AuthorityStatus[],
): readonly { readonly reason: string; readonly note: string }[] {
  const entered = after
    .filter((is) => before.find(isSameCa(is))?.phase !== is.phase)
    .map(({ fingerprint, phase, leavesExpireBy }) => ({
      reason: `Authority${phase}`,
      note: messages.phaseEntered(fingerprint, phase, leavesExpireBy),
    }));
  const gone = before
    .filter((was) => !after.some(isSameCa(was)))
    .map(({ fingerprint, phase }) => ({
      reason: 'AuthorityGone',
      note:
        phase === 'Prepared'
          ? messages.preparedGone(fingerprint)
          : messages.caGone(fingerprint, phase),
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

/**
 * Records an Event, except for a Signer: authority has no permission for Events in its namespace.
 */
function event(
  component: Component,
  signer: KubeObject,
  details: Omit<EventDetails, 'regarding' | 'related'>,
): void {
  if (isNamespaced(signer)) return;
  component.events.record({ regarding: regarding(signer), ...details });
}
