// SPDX-License-Identifier: Apache-2.0
import {
  secretOf,
  type AuthorityPhase,
  type AuthorityStatus,
  type ClusterSigner,
  type ClusterSignerStatus,
} from '../../api/cluster-signer.ts';
import { findCondition, type Condition } from '../../api/conditions.ts';
import { keyOf, type KubeObject } from '../../api/object.ts';
import { isNamespaced } from '../../api/signer.ts';
import type { EventNote } from '../../kube/event-body.ts';
import type { Step } from '../../rotation/next-step.ts';
import type { Component } from '../../serving/component.ts';

/** Whom an Event is about. */
export function regarding({ apiVersion, kind, metadata }: KubeObject): EventNote['regarding'] {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

/** Told once each: what a status that was just written says for the first time. */
export function tellChanges(
  component: Component,
  signer: KubeObject,
  status: ClusterSignerStatus,
): void {
  const before = (signer as Partial<ClusterSigner>).status;
  for (const type of ['Ready', 'Degraded', 'RotationDue']) {
    const was = findCondition(before?.conditions, type);
    const is = findCondition(status.conditions, type);
    if (is !== undefined && (was?.status !== is.status || was.reason !== is.reason)) {
      tellCondition(component, signer, was, is);
    }
  }
  tellPhases(component, signer, before?.authorities ?? [], status.authorities ?? []);
}

/** A line whenever it changes; an Event where somebody should hear of it, never for plain success. */
function tellCondition(
  component: Component,
  signer: KubeObject,
  was: Condition | undefined,
  is: Condition,
): void {
  const { type, status, reason = '', message: note = '' } = is;
  const { kind, metadata } = signer;
  const fields = { kind, name: keyOf(metadata), reason, detail: note };
  component.log.info(fields, `${kind} ${type}=${status}`);
  if (!isWarning(is) || was?.reason === reason) return;
  event(component, signer, { type: 'Warning', reason, action: 'Check', note });
}

/** A rotation that goes its way shows in its phases; only one that presses is a warning. */
function isWarning({ type, status, reason }: Condition): boolean {
  if (type === 'Ready') return status !== 'True' && reason !== 'Initializing';
  return status === 'True' && (type === 'Degraded' || reason === 'LongestLeaf');
}

/** What was just written into the CA's Secret, and why. */
export function tellStep(component: Component, signer: ClusterSigner, step: Step): void {
  const { namespace, name } = secretOf(signer.spec);
  const why = 'due' in step && step.due !== undefined ? `: ${step.due.message}` : '';
  const fields = { signer: signer.spec.signerName, secret: name, step: step.kind };
  component.log.info(fields, `the CA’s Secret has entered its next phase${why}`);
  if (step.kind !== 'make') return;
  const note = `a new CA was made in Secret ${namespace}/${name}${why}`;
  record(component, signer, 'AuthorityCreated', note);
}

const PHASES: Readonly<Record<AuthorityPhase, string>> = {
  Prepared: 'is published, and will sign when every kubelet has its anchor',
  Active: 'signs from now on',
  Retiring: 'signs no more; it is trusted until its last leaf has expired',
  Distrusted: 'is distrusted: it signs no more, and its anchor leaves the bundle',
};

function tellPhases(
  component: Component,
  signer: KubeObject,
  before: readonly AuthorityStatus[],
  after: readonly AuthorityStatus[],
): void {
  for (const { fingerprint, phase, leavesExpireBy } of after) {
    if (before.find((each) => each.fingerprint === fingerprint)?.phase === phase) continue;
    const until = leavesExpireBy === undefined ? '' : `, at ${leavesExpireBy} at the latest`;
    const note = `${fingerprint} ${PHASES[phase]}${until}`;
    record(component, signer, `Authority${phase}`, note);
  }
  for (const { fingerprint, phase } of before) {
    if (after.some((each) => each.fingerprint === fingerprint)) continue;
    const note = `${fingerprint}, which was ${phase}, is gone: no leaf of it lives`;
    record(component, signer, 'AuthorityGone', note);
  }
}

function record(component: Component, signer: KubeObject, reason: string, note: string): void {
  component.log.info({ kind: signer.kind, name: keyOf(signer.metadata), reason }, note);
  event(component, signer, { type: 'Normal', reason, action: 'Rotate', note });
}

/** Beside a Signer there is no right to write Events: its status says it all. */
function event(
  component: Component,
  signer: KubeObject,
  said: Omit<EventNote, 'regarding' | 'related'>,
): void {
  if (isNamespaced(signer)) return;
  component.events.record({ regarding: regarding(signer), ...said });
}
