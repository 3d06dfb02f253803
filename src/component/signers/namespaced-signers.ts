// SPDX-License-Identifier: Apache-2.0
import { GROUP, VERSION, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { invalidSpec } from '#api/signer/invalid-spec.ts';
import type { KubeObject } from '#api/object/object.ts';
import { readSigner } from '#api/signer/read-signer.ts';
import { derivedFrom, derivedName } from '#api/signer/signer.ts';
import { SignerError } from '#base/errors.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Component } from '../contract.ts';
import { createSignerQuota, type SignerQuota, type SignerQuotaOptions } from './signer-quota.ts';
import type { FaultySigner, Signers, SignersListener } from './signer-set.ts';

/** The API resource of Signers. */
export const SIGNERS = resource({ group: GROUP, version: VERSION, plural: 'signers' });

/** All known Signers, by `namespace/name`. */
interface NamespacedState {
  readonly component: Component;
  readonly known: Map<string, ClusterSigner>;
  readonly faulty: Map<string, FaultySigner>;
  readonly listeners: SignersListener[];
  readonly quota: SignerQuota;
}

/** Signers of all namespaces. */
export interface NamespacedSigners extends Signers {
  /** True once the first list is complete. Each Signer serves before that. */
  readonly listed: boolean;
  /** Resolves when the first list is complete. Rejects with the signal's reason. */
  readonly whenListed: (signal: AbortSignal) => Promise<void>;
}

/**
 * Watches the Signers of all namespaces. Their signer names are derived, so they never conflict,
 * and each serves as soon as it is listed. They always count as settled, so that a failing watch of
 * Signers does not keep ClusterSigners from serving. The failure is a warning.
 */
export function createNamespacedSigners(
  component: Component,
  options: SignerQuotaOptions = {},
): NamespacedSigners {
  const quota = createSignerQuota(options);
  const known = new Map<string, ClusterSigner>();
  const faulty = new Map<string, FaultySigner>();
  const state: NamespacedState = { component, known, faulty, listeners: [], quota };
  const reflector = createReflector<KubeObject>({
    ...component,
    path: SIGNERS.collection(),
    transform: quota.reduce,
    onEvent: (key, now) => {
      observe(state, key, now);
    },
  });
  return {
    settled: true,
    get listed() {
      return reflector.synced;
    },
    whenListed: (signal) => reflector.whenSynced(signal),
    failure: undefined,
    serving: (signerName) => known.get(derivedFrom(signerName) ?? ''),
    all: () => [...known.values()],
    onChange: (listener) => {
      state.listeners.push(listener);
    },
    run: (signal) => reflector.run(signal),
    warnings: () => {
      const { failure } = reflector;
      return failure === undefined ? [] : [`cannot watch Signers: ${failure}`];
    },
    known: () => [...known.values()],
    get: (key) => known.get(key),
    faulty: (key) => faulty.get(key),
    elderOf: () => undefined,
    keys: () => [...known.keys(), ...faulty.keys()],
  };
}

function observe(state: NamespacedState, key: string, object: KubeObject | undefined): void {
  const { component, known, faulty, listeners, quota } = state;
  const served = known.delete(key);
  faulty.delete(key);
  if (object === undefined) quota.release(key);
  else read(state, key, object);
  const [namespace = '', name = ''] = key.split('/');
  const signerName = derivedName({ namespace, name });
  for (const listener of listeners) listener([signerName], [key]);
  // Runs after the listeners, which may count the last requests of the signer name.
  if (served && !known.has(key)) component.metrics.unserved(signerName);
}

function read(
  { component, known, faulty, quota }: NamespacedState,
  key: string,
  object: KubeObject,
): void {
  try {
    const fault = quota.admit(key, object);
    if (fault !== undefined) throw invalidSpec(object, [fault]);
    known.set(key, readSigner(object));
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    faulty.set(key, { object, error });
    component.log.warn(
      { signer: key, code: error.code, error: error.message },
      'invalid Signer, not served',
    );
  }
}
