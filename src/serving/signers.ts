// SPDX-License-Identifier: Apache-2.0
import { GROUP, VERSION, secretOf, type ClusterSigner } from '../api/cluster-signer.ts';
import { electSigners } from '../api/election.ts';
import type { KubeObject } from '../api/object.ts';
import { readClusterSigner } from '../api/read-cluster-signer.ts';
import { SignerError } from '../errors.ts';
import { createReflector, type Reflector } from '../kube/reflector.ts';
import { resource } from '../kube/resource.ts';
import type { Component } from './component.ts';

export const CLUSTER_SIGNERS = resource({
  group: GROUP,
  version: VERSION,
  plural: 'clustersigners',
});

/** The ClusterSigners of this installation, and which of them serve. */
export interface Signers {
  readonly reflector: Reflector<KubeObject>;
  /** The ClusterSigner that serves a signer name, if one does. */
  serving(signerName: string): ClusterSigner | undefined;
  /** All serving ones. */
  all(): readonly ClusterSigner[];
  /** All of this installation, also those that do not serve. */
  known(): readonly ClusterSigner[];
  /** Every ClusterSigner as the API server has it, by name; also those that do not serve. */
  get(name: string): ClusterSigner | undefined;
  /** What keeps a ClusterSigner from being read at all, by name. */
  faulty(name: string): FaultySigner | undefined;
  /** The elder of the same signer name, where that keeps `name` from serving. */
  elderOf(name: string): string | undefined;
}

/** A ClusterSigner that got past the CRD's schema and yet cannot be served. */
export interface FaultySigner {
  readonly object: KubeObject;
  readonly error: SignerError;
}

/**
 * Watches ClusterSigners. Those whose Secret lies in another namespace than ours belong to another
 * installation and do not exist here.
 *
 * @param onChange - called with each name whose object or standing changed, and, after it, with the
 * signer names concerned
 */
export function createSigners(
  component: Component,
  onChange: (names: readonly string[], signerNames: readonly string[]) => void,
): Signers {
  const known = new Map<string, ClusterSigner>();
  const faulty = new Map<string, FaultySigner>();
  let election = electSigners([]);

  function observe(name: string, object: KubeObject | undefined): void {
    const before = known.get(name);
    known.delete(name);
    faulty.delete(name);
    if (object !== undefined) admit(name, object);
    const now = known.get(name);
    const signerNames = [...new Set([before, now].flatMap((each) => each?.spec.signerName ?? []))];
    election = electSigners([...known.values()]);
    const rivals = [...known.values()].filter((each) => signerNames.includes(each.spec.signerName));
    onChange([...new Set([name, ...rivals.map((each) => each.metadata.name)])], signerNames);
  }

  /** Ours, and of the shape that we know; anything else is logged and left alone. */
  function admit(name: string, object: KubeObject): void {
    try {
      const signer = readClusterSigner(object);
      if (secretOf(signer.spec).namespace === component.secretNamespace) known.set(name, signer);
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      faulty.set(name, { object, error });
      component.log.warn(
        { clusterSigner: name, code: error.code, error: error.message },
        'a ClusterSigner cannot be read; it is not served',
      );
    }
  }

  const reflector = createReflector<KubeObject>({
    ...component,
    path: CLUSTER_SIGNERS.collection(),
    onEvent: (key, now) => observe(key, now),
  });
  return {
    reflector,
    serving: (signerName) => election.serving.get(signerName),
    all: () => [...election.serving.values()],
    known: () => [...known.values()],
    get: (name) => known.get(name),
    faulty: (name) => faulty.get(name),
    elderOf: (name) => election.taken.get(name),
  };
}
