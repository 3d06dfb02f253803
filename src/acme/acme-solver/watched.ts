// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS, CHALLENGES } from '#api/acme/names.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { withoutManagedFields } from '#kube/resource/object.ts';
import { resource, type ResourceInit } from '#kube/resource/resource.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import type { Component } from '#component/contract.ts';
import { createSignerQuota } from '#component/signers/signer-quota.ts';

export const CHALLENGE_RESOURCE = resource(CHALLENGES);

/** Objects that the component watches. */
export interface SolverWatches {
  /** Challenges as the server has them, unparsed. */
  readonly challenges: Reflector<KubeObject>;
  /** Reports whether all lists are complete. */
  readonly settled: () => boolean;
  readonly failures: () => readonly string[];
  /**
   * Returns the signer of a Challenge. Undefined: there is none, or it is beyond the quota of its
   * namespace.
   *
   * @throws SignerError SPEC_INVALID
   */
  readonly signerOf: (challenge: Challenge) => AcmeSigner | undefined;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * Watches Challenges, and the signers that they name.
 *
 * @param onChallenge - called with the key of a changed Challenge
 * @param onSigner - called with the key of each Challenge whose signer changed
 */
export function watchSolverObjects(
  component: Component,
  onChallenge: (key: string) => void,
  onSigner: (key: string) => void,
): SolverWatches {
  const challenges = createReflector<KubeObject>({
    ...component,
    path: CHALLENGE_RESOURCE.collection(),
    transform: withoutManagedFields,
    onEvent: onChallenge,
  });
  // `acme` creates no Challenge of an AcmeSigner beyond the same quota.
  const quota = createSignerQuota({ kinds: 'AcmeSigners' });
  const signersOf = (kind: ResourceInit): Reflector<KubeObject> =>
    createReflector<KubeObject>({
      ...component,
      path: resource(kind).collection(),
      ...(kind === ACME_SIGNERS ? { transform: quota.reduce } : {}),
      onEvent: (key, now, before) => {
        if (kind === ACME_SIGNERS) {
          if (now === undefined) quota.release(key);
          else quota.admit(key, now);
        }
        for (const each of challenges.list()) {
          // The watch of Challenges delivers only Challenges.
          if (isOf(each as Challenge, now ?? before)) onSigner(keyOf(each.metadata));
        }
      },
    });
  const ofCluster = signersOf(ACME_CLUSTER_SIGNERS);
  const ofNamespaces = component.namespacedSigners ? signersOf(ACME_SIGNERS) : undefined;
  const all = [challenges, ofCluster, ...(ofNamespaces === undefined ? [] : [ofNamespaces])];
  return {
    challenges,
    settled: () => all.every(({ synced }) => synced),
    failures: () => all.flatMap(({ failure }) => failure ?? []),
    signerOf: ({ metadata: { namespace = '' }, spec: { signerRef } }) => {
      const { kind, name } = signerRef;
      const found =
        kind === 'AcmeSigner' ? ofNamespaces?.get(`${namespace}/${name}`) : ofCluster.get(name);
      return found?.spec === undefined ? undefined : readAcmeSigner(found);
    },
    run: async (signal) => {
      await Promise.all(all.map((each) => each.run(signal)));
    },
  };
}

function isOf({ metadata, spec }: Challenge, signer: KubeObject | undefined): boolean {
  if (signer === undefined || spec.signerRef.name !== signer.metadata.name) return false;
  const isNamespaced = signer.metadata.namespace !== undefined;
  return isNamespaced
    ? spec.signerRef.kind === 'AcmeSigner' && metadata.namespace === signer.metadata.namespace
    : spec.signerRef.kind === 'AcmeClusterSigner';
}
