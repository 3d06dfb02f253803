// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from './cluster-signer.ts';
import { byAge, type KubeObject } from '../object/object.ts';

/** The part of a ClusterSigner that decides a conflict. */
export interface NameClaimant extends KubeObject {
  readonly spec: Pick<ClusterSigner['spec'], 'signerName'>;
}

/**
 * The ClusterSigner that serves each signer name, and those that do not serve because of a
 * conflict.
 */
export interface NameResolution<T extends NameClaimant = ClusterSigner> {
  /** Signer name → the ClusterSigner that serves it. */
  readonly serving: ReadonlyMap<string, T>;
  /** The name of each ClusterSigner that does not serve → the name of the older one that does. */
  readonly conflicting: ReadonlyMap<string, string>;
}

/**
 * Decides which ClusterSigner serves each signer name: the oldest. Every component decides on its
 * own, so the order is total and independent of what a component saw first.
 */
export function resolveNameConflicts<T extends NameClaimant>(
  signers: readonly T[],
): NameResolution<T> {
  const serving = new Map<string, T>();
  const taken = new Map<string, string>();
  for (const signer of [...signers].sort(byAge)) {
    const elder = serving.get(signer.spec.signerName);
    if (elder === undefined) serving.set(signer.spec.signerName, signer);
    else taken.set(signer.metadata.name, elder.metadata.name);
  }
  return { serving, conflicting: taken };
}
