// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from 'node:util';
import type { ClusterSigner, ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import type { KubeObject, Secret } from '#api/object/object.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import type { CreateAuthority, CreateCaRequest, CrossSign } from '#ca/custody/contract.ts';
import { parseJson } from '#kube/resource/json.ts';
import { withoutManagedFields } from '#kube/resource/object.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { RotationStep } from '#ca/rotation/next-step.ts';
import type { Component } from '#component/contract.ts';
import { resourceOf } from '#component/signers/signers.ts';
import { applyStep } from './apply-step.ts';
import type { SignerPlan } from '../decide/decide.ts';
import { isFresh } from './freshness.ts';
import { measureAuthorities } from './measure-authorities.ts';
import { areClocksApart, serverTime } from '#component/server-time.ts';
import { logChanges, eventsOf, recordStep } from './events.ts';
import type { StatusedSigner } from '#api/signer/read-signer.ts';

export interface ActorInit {
  readonly component: Component;
  readonly create: CreateAuthority;
  readonly createRequest: CreateCaRequest;
  readonly crossSign: CrossSign;
  readonly version: string;
  /** Stores a Secret as returned by our own write. */
  readonly observe: (secret: Secret) => void;
}

/** A plan and the objects that it was made from. */
export interface JudgedPlan {
  readonly signer: ClusterSigner;
  /** Undefined if the Secret is missing. */
  readonly secret: Secret | undefined;
  readonly plan: SignerPlan;
  /** PEM: the chain of an upstream CA that returns it by itself. */
  readonly chain?: string | undefined;
  readonly clocksApart: boolean;
  readonly now: number;
}

export interface Actor {
  apply(judged: JudgedPlan): Promise<ReconcileResult>;
  writeStatus(signer: KubeObject, status: ClusterSignerStatus): Promise<void>;
}

/**
 * Applies plans with at most one write of the Secret and one of the status. Both have
 * preconditions.
 */
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
  const next = step === undefined || overwritesTls(step) ? 'status' : 'another';
  if (!(await isFresh(component, signer, now, next))) return 'backoff';
  if (areClocksApart(component) !== judged.clocksApart) return 'backoff';
  if (step === undefined) await writeStatus(init, signer, status);
  else await enterPhase(init, judged, step);
  return undefined;
}

async function enterPhase(init: ActorInit, judged: JudgedPlan, step: RotationStep): Promise<void> {
  const { signer, plan } = judged;
  // Overwriting tls.* erases its contents, so the status must record them first.
  const isStatusFirst = overwritesTls(step);
  if (isStatusFirst) await writeStatus(init, signer, plan.status);
  try {
    await writeSecret(init, judged, step);
  } catch (error) {
    // The status shows a due rotation that cannot continue.
    if (!isStatusFirst) await writeStatus(init, signer, plan.status);
    throw error;
  }
}

function overwritesTls(step: RotationStep): boolean {
  if (step.kind === 'request') return step.clears;
  return (step.kind === 'make' || step.kind === 'install') && step.slot === 'tls';
}

async function writeSecret(init: ActorInit, judged: JudgedPlan, step: RotationStep): Promise<void> {
  const { component } = init;
  const { secret, plan, chain, now } = judged;
  // The new status may not be written yet, but the write must follow it.
  const signer = { ...judged.signer, status: plan.status };
  const { managed } = signer.spec.authority;
  if (managed === undefined) return;
  // At or after the time of the decision, since this step satisfies requests until then.
  const appliedAt = Math.max(serverTime(component), now);
  const input = { signer, managed, secret, step, chain, now: appliedAt };
  const written = await applyStep({ ...init, client: component.client }, input);
  if (written === undefined) return;
  init.observe(written);
  recordStep(component, signer, step, written);
}

async function writeStatus(
  { component }: ActorInit,
  signer: StatusedSigner,
  status: ClusterSignerStatus,
): Promise<void> {
  if (sameStatus(signer.status, status)) return;
  await recordEvents(component, signer, status);
  await component.client.request({
    method: 'PUT',
    path: resourceOf(signer).object(signer.metadata, 'status'),
    body: withoutManagedFields({ ...asStored(signer), status }),
  });
  logChanges(component, signer, status);
}

/**
 * Records Events before the status is written, since a written status hides the change. If a
 * process dies in between, the next one finds the same difference and records the same Event again
 * (ADR 0021).
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

/**
 * Returns the API fields of a Signer. A parsed one has more, and only the fields put to /status
 * count.
 */
function asStored(signer: KubeObject): KubeObject {
  if (!isNamespaced(signer)) return signer;
  const { apiVersion, kind, metadata } = signer;
  return { apiVersion, kind, metadata };
}

/**
 * Reports whether two statuses are equal except for the order of keys, which the API server may
 * change.
 */
function sameStatus(before: ClusterSignerStatus | undefined, status: ClusterSignerStatus): boolean {
  return before !== undefined && isDeepStrictEqual(asSent(before), asSent(status));
}

/** Returns a value as the API server receives it: JSON drops members without a value. */
function asSent(value: ClusterSignerStatus): unknown {
  return parseJson(JSON.stringify(value));
}
