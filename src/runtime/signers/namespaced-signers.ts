// SPDX-License-Identifier: Apache-2.0
import { GROUP, VERSION, type ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { invalidSpec } from '../../api/signer/invalid-spec.ts';
import type { KubeObject } from '../../api/object/object.ts';
import { readSigner } from '../../api/signer/read-signer.ts';
import { derivedFrom, derivedName } from '../../api/signer/signer.ts';
import { SignerError } from '../../errors.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import { resource } from '../../kube/resource/resource.ts';
import type { Component } from '../component/component.ts';
import { createSignerQuota } from './signer-quota.ts';
import type { FaultySigner, OnSigners, Signers } from './signers.ts';

export const SIGNERS = resource({ group: GROUP, version: VERSION, plural: 'signers' });

/**
 * Watches the Signers of all namespaces. Their names are derived, so nobody is elected: each serves
 * from the moment that it is heard of. They are settled whatever becomes of their watch, because
 * nobody else must wait for it; what is wrong with it is a warning.
 */
export function createNamespacedSigners(component: Component, onChange: OnSigners): Signers {
  const known = new Map<string, ClusterSigner>();
  const faulty = new Map<string, FaultySigner>();
  const room = createSignerQuota();

  function observe(key: string, object: KubeObject | undefined): void {
    const served = known.delete(key);
    faulty.delete(key);
    if (object === undefined) room.release(key);
    else read(key, object);
    const [namespace = '', name = ''] = key.split('/');
    const signerName = derivedName({ namespace, name });
    onChange([key], [signerName]);
    // After onChange: what ends there is counted a last time.
    if (served && !known.has(key)) component.metrics.unserved(signerName);
  }

  function read(key: string, object: KubeObject): void {
    try {
      const fault = room.admit(key, object);
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

  const reflector = createReflector<KubeObject>({
    ...component,
    path: SIGNERS.collection(),
    transform: room.reduce,
    onEvent: (key, now) => {
      observe(key, now);
    },
  });
  return {
    settled: true,
    failure: undefined,
    serving: (signerName) => known.get(derivedFrom(signerName) ?? ''),
    all: () => [...known.values()],
    known: () => [...known.values()],
    get: (key) => known.get(key),
    faulty: (key) => faulty.get(key),
    elderOf: () => undefined,
    keys: () => [...known.keys(), ...faulty.keys()],
    run: (signal) => reflector.run(signal),
    warnings: () => {
      const { failure } = reflector;
      return failure === undefined ? [] : [`cannot watch Signers: ${failure}`];
    },
  };
}
