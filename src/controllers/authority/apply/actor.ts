// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner, ClusterSignerStatus } from '../../../api/signer/cluster-signer.ts';
import type { KubeObject, Secret } from '../../../api/object/object.ts';
import { isNamespaced } from '../../../api/signer/signer.ts';
import type { CreateAuthority, CrossSign } from '../../../authorities/contract.ts';
import { withoutManagedFields } from '../../../kube/resource/object.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import type { RotationStep } from '../../../rotation/next-step.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { resourceOf } from '../../../runtime/signers/all-signers.ts';
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
  /** Takes in a Secret as a write of ours left it. */
  readonly observe: (secret: Secret) => void;
}

/** A plan, and what it was made of. */
export interface JudgedPlan {
  readonly signer: ClusterSigner;
  /** Undefined where it is missing. */
  readonly secret: Secret | undefined;
  readonly plan: SignerPlan;
  readonly clocksApart: boolean;
  readonly now: number;
}

export interface Actor {
  apply(judged: JudgedPlan): Promise<ReconcileResult>;
  writeStatus(signer: KubeObject, status: ClusterSignerStatus): Promise<void>;
}

/** Carries plans out. The Secret's write and the status' are fenced, and one of each at the most. */
export function createActor(init: ActorInit): Actor {
  const { component } = init;
  const { client } = component;

  async function carryOut(judged: JudgedPlan): Promise<ReconcileResult> {
    const { signer, plan, now } = judged;
    const { step, status } = plan;
    measureAuthorities(component, signer, status);
    if (step === undefined && sameStatus(signer.status, status)) return undefined;
    if (!(await isFresh(component, signer, now))) return 'backoff';
    if (areClocksApart(component) !== judged.clocksApart) return 'backoff';
    if (step === undefined) await writeStatus(signer, status);
    else await enterPhase(judged, step);
    return undefined;
  }

  async function enterPhase(judged: JudgedPlan, step: RotationStep): Promise<void> {
    const { signer, plan } = judged;
    // Once tls.* is written over nothing tells what was in it: the status must know it before.
    const comesLast = step.kind === 'make' && step.slot === 'tls';
    if (comesLast) await writeStatus(signer, plan.status);
    try {
      await takeStep(judged, step);
    } catch (error) {
      // A rotation that is due and cannot go on shows in the status.
      if (!comesLast) await writeStatus(signer, plan.status);
      throw error;
    }
  }

  async function takeStep(judged: JudgedPlan, step: RotationStep): Promise<void> {
    const { secret, plan, now } = judged;
    // By what the status is to remember: it may not be written yet.
    const signer = { ...judged.signer, status: plan.status };
    const { managed } = signer.spec.authority;
    if (managed === undefined) return;
    // Never before the time by which it was judged: what was asked for by then is carried out by this.
    const carriedOutAt = Math.max(serverTime(component), now);
    const input = { signer, managed, secret, step, now: carriedOutAt };
    const written = await applyStep({ ...init, client }, input);
    if (written === undefined) return;
    init.observe(written);
    recordStep(component, signer, step, written);
  }

  async function writeStatus(signer: KubeObject, status: ClusterSignerStatus): Promise<void> {
    if (sameStatus((signer as Partial<ClusterSigner>).status, status)) return;
    await tellNews(signer, status);
    await client.request({
      method: 'PUT',
      path: resourceOf(signer).object(signer.metadata, 'status'),
      body: withoutManagedFields({ ...asStored(signer), status }),
    });
    logChanges(component, signer, status);
  }

  /**
   * Told before it is written: once the status says it, nobody can tell any more that it is new. Who dies
   * in between is followed by one who finds the same difference, and tells the same Event again.
   */
  async function tellNews(signer: KubeObject, status: ClusterSignerStatus): Promise<void> {
    const { uid, resourceVersion } = signer.metadata;
    const occasion = `${uid}/${resourceVersion}`;
    await Promise.all(
      eventsOf(signer, status).map((note) => component.events.recordOnce(note, occasion)),
    );
  }

  return { apply: carryOut, writeStatus };
}

/** A Signer that was read has more than it has in the API; of what is put to /status only that counts. */
function asStored(signer: KubeObject): KubeObject {
  if (!isNamespaced(signer)) return signer;
  const { apiVersion, kind, metadata } = signer;
  return { apiVersion, kind, metadata };
}

/** Equal but for the order of keys, which the API server may change. */
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
