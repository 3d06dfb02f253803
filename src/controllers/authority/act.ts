// SPDX-License-Identifier: Apache-2.0
import {
  secretOf,
  type ClusterSigner,
  type ClusterSignerStatus,
  type ManagedAuthority,
} from '../../api/cluster-signer.ts';
import { findCondition } from '../../api/conditions.ts';
import { parseDuration } from '../../api/duration.ts';
import type { KubeObject } from '../../api/object.ts';
import { parseTime } from '../../api/time.ts';
import type { CreateAuthority } from '../../authorities/contract.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { withoutManagedFields } from '../../kube/managed-fields.ts';
import { SECRETS } from '../../serving/authority-sources.ts';
import type { Component } from '../../serving/component.ts';
import { CLUSTER_SIGNERS } from '../../serving/signers.ts';
import type { Plan } from './decide.ts';
import { managedSecret } from './managed-secret.ts';

export interface ActInit {
  readonly component: Component;
  readonly create: CreateAuthority;
}

/** Carries plans out. The Secret is created, never overwritten; the status is fenced. */
export function createActor(init: ActInit): {
  carryOut(signer: ClusterSigner, plan: Plan): Promise<void>;
  writeStatus(signer: KubeObject, status: ClusterSignerStatus): Promise<void>;
} {
  const { component } = init;
  const { client, log } = component;

  async function carryOut(signer: ClusterSigner, plan: Plan): Promise<void> {
    await writeStatus(signer, plan.status);
    measure(component, signer, plan);
    const { managed } = signer.spec.authority;
    if (plan.createSecret && managed !== undefined) await createSecret(signer, managed);
  }

  async function createSecret(signer: ClusterSigner, managed: ManagedAuthority): Promise<void> {
    const { namespace } = secretOf(signer.spec);
    const material = await init.create({
      keyType: managed.keyType,
      commonName: managed.commonName,
      durationSeconds: parseDuration(managed.duration),
      now: component.clock(),
    });
    try {
      await client.request({
        method: 'POST',
        path: SECRETS.collection(namespace),
        body: managedSecret(signer, material),
      });
    } catch (error) {
      // Another replica, or an earlier call whose answer was lost: the watch will show it.
      if (error instanceof KubeError && error.code === 'KUBE_ALREADY_EXISTS') return;
      throw error;
    }
    log.info({ signer: signer.spec.signerName, secret: managed.secret.name }, 'managed CA created');
    component.events.record({
      regarding: regarding(signer),
      type: 'Normal',
      reason: 'AuthorityCreated',
      action: 'Create',
      note: `a new CA was made in Secret ${namespace}/${managed.secret.name}`,
    });
  }

  async function writeStatus(signer: KubeObject, status: ClusterSignerStatus): Promise<void> {
    const before = (signer as Partial<ClusterSigner>).status;
    if (sameStatus(before, status)) return;
    await client.request({
      method: 'PUT',
      path: CLUSTER_SIGNERS.object({ name: signer.metadata.name }, 'status'),
      body: withoutManagedFields({ ...signer, status }),
    });
    tellReady(signer, before, status);
  }

  /** Said when it changes: refusals and phases, never plain success. */
  function tellReady(
    signer: KubeObject,
    before: ClusterSignerStatus | undefined,
    status: ClusterSignerStatus,
  ): void {
    const was = findCondition(before?.conditions, 'Ready');
    const is = findCondition(status.conditions, 'Ready');
    if (is === undefined) return;
    const { reason = '', message = '' } = is;
    const fields = { kind: 'ClusterSigner', name: signer.metadata.name, reason, detail: message };
    log.info(fields, `ClusterSigner Ready=${is.status}`);
    const quiet = is.status === 'True' || reason === 'Initializing';
    if (quiet || was?.reason === reason) return;
    const said = { type: 'Warning', reason, action: 'Check', note: message } as const;
    component.events.record({ regarding: regarding(signer), ...said });
  }

  return { carryOut, writeStatus };
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

function measure(component: Component, signer: ClusterSigner, plan: Plan): void {
  const active = plan.status.authorities?.find((each) => each.phase === 'Active');
  if (active === undefined) return;
  const { signerName } = signer.spec;
  component.metrics.authorityNotAfter(signerName, parseTime(active.notAfter) / 1000);
}

function regarding(signer: KubeObject): {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
} {
  const { apiVersion, kind, metadata } = signer;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}
