// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner, ClusterSignerStatus } from '../../../api/signer/cluster-signer.ts';
import type { KubeObject, Secret } from '../../../api/object/object.ts';
import { isNamespaced } from '../../../api/signer/signer.ts';
import type { CreateAuthority, CrossSign } from '../../../authorities/contract.ts';
import { withoutManagedFields } from '../../../kube/resource/object.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import type { RotationStep } from '../../../rotation/next-step.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { resourceOf } from '../../../runtime/signers/signers.ts';
import { applyStep } from './apply-step.ts';
import type { SignerPlan } from '../decide/decide.ts';
import { isFresh } from './freshness.ts';
import { measureAuthorities } from './metrics.ts';
import { areClocksApart, serverTime } from '../../../runtime/component/server-time.ts';
import { logChanges, eventsOf, recordStep } from './events.ts';

export interface ActorInit {
  readonly component: Component;
  readonly create: CreateAuthority;
  readonly crossSign: CrossSign;
  readonly version: string;
  /** Stores a Secret as returned by our own write. */
  readonly observe: (secret: Secret) => void;
}

/** A plan, and the objects it was made from. */
export interface JudgedPlan {
  readonly signer: ClusterSigner;
  /** Undefined if it is missing. */
  readonly secret: Secret | undefined;
  readonly plan: SignerPlan;
  readonly clocksApart: boolean;
  readonly now: number;
}

export interface Actor {
  apply(judged: JudgedPlan): Promise<ReconcileResult>;
  writeStatus(signer: KubeObject, status: ClusterSignerStatus): Promise<void>;
}

/** Applies plans: at most one write of the Secret and one of the status. Both have preconditions. */
export function createActor(init: ActorInit): Actor {
  return {
    apply: (judged) => applyPlan(init, judged),
    writeStatus: (signer, status) => writeStatus(init, signer, status),
  };
}

async function applyPlan(init: ActorInit, judged: JudgedPlan): Promise<ReconcileResult> {
  const { component } = init;
  const { signer, plan, now } = judged;
  const { step, status } = plan;
  measureAuthorities(component, signer, status);
  if (step === undefined && sameStatus(signer.status, status)) return undefined;
  if (!(await isFresh(component, signer, now))) return 'backoff';
  if (areClocksApart(component) !== judged.clocksApart) return 'backoff';
  if (step === undefined) await writeStatus(init, signer, status);
  else await enterPhase(init, judged, step);
  return undefined;
}

async function enterPhase(init: ActorInit, judged: JudgedPlan, step: RotationStep): Promise<void> {
  const { signer, plan } = judged;
  // Once tls.* is overwritten nothing shows what it contained: the status must record that first.
  const isStatusFirst = step.kind === 'make' && step.slot === 'tls';
  if (isStatusFirst) await writeStatus(init, signer, plan.status);
  try {
    await writeSecret(init, judged, step);
  } catch (error) {
    // A rotation that is due and cannot continue shows in the status.
    if (!isStatusFirst) await writeStatus(init, signer, plan.status);
    throw error;
  }
}

async function writeSecret(init: ActorInit, judged: JudgedPlan, step: RotationStep): Promise<void> {
  const { component } = init;
  const { secret, plan, now } = judged;
  // By what the status must remember, since it may not be written yet.
  const signer = { ...judged.signer, status: plan.status };
  const { managed } = signer.spec.authority;
  if (managed === undefined) return;
  // Never before the time of the decision: this step satisfies what was requested until then.
  const appliedAt = Math.max(serverTime(component), now);
  const input = { signer, managed, secret, step, now: appliedAt };
  const written = await applyStep({ ...init, client: component.client }, input);
  if (written === undefined) return;
  init.observe(written);
  recordStep(component, signer, step, written);
}

async function writeStatus(
  { component }: ActorInit,
  signer: KubeObject,
  status: ClusterSignerStatus,
): Promise<void> {
  if (sameStatus((signer as Partial<ClusterSigner>).status, status)) return;
  await recordEvents(component, signer, status);
  await component.client.request({
    method: 'PUT',
    path: resourceOf(signer).object(signer.metadata, 'status'),
    body: withoutManagedFields({ ...asStored(signer), status }),
  });
  logChanges(component, signer, status);
}

/**
 * Recorded before the status is written: once the status has the change, no process can know that it is new.
 * If a process dies in between, the next one finds the same difference and records the same Event again (ADR
 * 0021).
 */
async function recordEvents(
  { events }: Component,
  signer: KubeObject,
  status: ClusterSignerStatus,
): Promise<void> {
  const { uid, resourceVersion } = signer.metadata;
  const occasion = `${uid}/${resourceVersion}`;
  await Promise.all(eventsOf(signer, status).map((note) => events.recordOnce(note, occasion)));
}

/** A Signer that was read has more fields than in the API; only the fields put to /status count. */
function asStored(signer: KubeObject): KubeObject {
  if (!isNamespaced(signer)) return signer;
  const { apiVersion, kind, metadata } = signer;
  return { apiVersion, kind, metadata };
}

/** Equal except for the order of keys, which the API server may change. */
function sameStatus(before: ClusterSignerStatus | undefined, status: ClusterSignerStatus): boolean {
  return before !== undefined && canonical(before) === canonical(status);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
