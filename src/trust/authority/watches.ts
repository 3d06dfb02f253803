// SPDX-License-Identifier: Apache-2.0
import { secretOrNone, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { keyOf } from '#api/object/object.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { createWatchSet, type WatchSet } from '#kube/watch/watch-set.ts';
import { publicSecretOf } from '#requests/ca/held-ca.ts';
import { createSecretWatches, type SecretWatches } from '#requests/ca/secret-watches.ts';
import type { Component } from '#component/contract.ts';
import { watchSigners } from '#component/signers/signers.ts';
import type { Signers } from '#component/signers/signer-set.ts';
import type { ObservedSecret } from './decide/inspect.ts';
import type { WatchedCa } from './own-tls/index.ts';
import type { FlowAssignment } from '#kube/workqueue/fair-queue.ts';

/**
 * Watches of the authority component: all signers, the Secret of each CA by its name, the bundles
 * of each signer.
 */
export interface AuthorityWatches {
  readonly signers: Signers;
  readonly secrets: SecretWatches;
  /** Bundles by signer name. */
  readonly bundles: WatchSet<ClusterTrustBundle>;
}

/**
 * Starts the watches. Each change enqueues the signers that it concerns.
 *
 * @param resource - ClusterTrustBundles in the version that the server has
 * @param onSigners - called when signers are added, changed or deleted, before they are enqueued
 */
export function createAuthorityWatches(
  component: Component,
  resource: Resource,
  onSigners: () => void,
): AuthorityWatches {
  const { queue } = component;
  const signers = watchSigners(component, { keepsAnchors: true });
  signers.onChange((_signerNames, keys) => {
    const known = signers.known();
    secrets.serve(known);
    bundles.reconcile(known.filter(isPublished).map(({ spec }) => spec.signerName));
    onSigners();
    for (const key of keys) queue.add(key);
  });
  const enqueueUsersOf = (secretKey: string): void => {
    for (const each of signers.known()) {
      const secret = secretOrNone(each.spec);
      if (secret !== undefined && keyOf(secret) === secretKey) queue.add(keyOf(each.metadata));
    }
  };
  const secrets = createSecretWatches({
    component,
    onEvent: enqueueUsersOf,
    onSynced: enqueueUsersOf,
  });
  const bundles = createWatchSet<ClusterTrustBundle>((signerName) =>
    createReflector<ClusterTrustBundle>({
      ...component,
      path: resource.collection(),
      fieldSelector: `spec.signerName=${signerName}`,
      onEvent: () => {
        const signer = signers.serving(signerName);
        if (signer !== undefined) queue.add(signer.metadata.name);
      },
    }),
  );
  return { signers, secrets, bundles };
}

/**
 * Returns the signer's CA Secret, or `unknown` before its watch has listed it. A CA whose key is in
 * a key holder has its public half in the spec.
 */
export function observedSecret(
  { secrets }: AuthorityWatches,
  signer: ClusterSigner,
): ObservedSecret {
  const held = publicSecretOf(signer);
  if (held !== undefined) return { kind: 'found', secret: held };
  const watch = secrets.of(signer);
  if (watch?.synced !== true) return { kind: 'unknown', failure: watch?.failure };
  const secret = secrets.get(signer);
  return secret === undefined ? { kind: 'missing' } : { kind: 'found', secret };
}

/** Returns the bundle that is published for the signer, or undefined if none is known. */
export function publishedBundle(
  { bundles }: AuthorityWatches,
  { spec }: ClusterSigner,
): ClusterTrustBundle | undefined {
  const { signerName, trustBundle } = spec;
  if (trustBundle === undefined) return undefined;
  return bundles.get(signerName)?.get(bundleName(signerName, trustBundle.name));
}

/**
 * Reports whether the bundles under the signer's name are listed. Only then does an unknown bundle
 * not exist.
 */
export function areBundlesListed({ bundles }: AuthorityWatches, { spec }: ClusterSigner): boolean {
  return bundles.get(spec.signerName)?.synced === true;
}

/**
 * Reports whether a status has no CAs while bundles, which show earlier CAs, are still being
 * listed.
 */
export function isBundleAwaited({ bundles }: AuthorityWatches, signer: ClusterSigner): boolean {
  const watch = bundles.get(signer.spec.signerName);
  if (!isPublished(signer) || watch === undefined) return false;
  return !watch.synced && watch.failure === undefined && signer.status?.authorities === undefined;
}

/**
 * Returns the inputs for the certificates of our own ports, or undefined until all of them are
 * listed.
 */
export function watchedCa(watches: AuthorityWatches, signer: ClusterSigner): WatchedCa | undefined {
  const secret = observedSecret(watches, signer);
  const isListed = !isPublished(signer) || areBundlesListed(watches, signer);
  if (secret.kind === 'unknown' || !isListed) return undefined;
  return {
    secret: secret.kind === 'found' ? secret.secret : undefined,
    bundle: publishedBundle(watches, signer),
  };
}

/**
 * Returns the error of each watch that is not up to date, or undefined for one that has not listed
 * yet.
 */
export function failuresOf({
  signers,
  secrets,
  bundles,
}: AuthorityWatches): readonly (string | undefined)[] {
  return [
    ...(signers.settled && signers.failure === undefined ? [] : [signers.failure]),
    ...[...secrets.unread(), ...bundles.unread()].map(([, each]) => each.failure),
  ];
}

function isPublished({ spec }: ClusterSigner): boolean {
  return spec.trustBundle !== undefined;
}

/**
 * Returns the fairness key. The Signers of each namespace, the ClusterSigners and our own ports
 * take turns, so a namespace with many Signers delays only its own.
 */
export function fairnessKeyOf(key: string): FlowAssignment {
  return { distinguishers: [key.slice(0, key.indexOf('/') + 1)] };
}
