// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { bundleName, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { keyOf } from '../../api/object/object.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import { createWatchSet, type WatchSet } from '../../kube/watch/watch-set.ts';
import { createSecretWatches, type SecretWatches } from '../../runtime/ca/secret-watches.ts';
import type { Component } from '../../runtime/component/component.ts';
import { watchSigners } from '../../runtime/signers/signers.ts';
import type { Signers } from '../../runtime/signers/signer-set.ts';
import type { ObservedSecret } from './decide/inspect.ts';
import type { WatchedCa } from './own-tls/index.ts';
import type { FlowAssignment } from '../../kube/workqueue/fair-queue.ts';

/**
 * What the authority component watches: all signers, the Secret of each CA by its name, the bundles of each
 * signer.
 */
export interface AuthorityWatches {
  readonly signers: Signers;
  readonly secrets: SecretWatches;
  /** By signer name. */
  readonly bundles: WatchSet<ClusterTrustBundle>;
}

/**
 * Starts the watches; each change queues the signers that it concerns.
 *
 * @param resource - ClusterTrustBundles in the version that the server has
 * @param onSigners - called when signers are added, changed or deleted, before they are queued
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
      if (keyOf(secretOf(each.spec)) === secretKey) queue.add(keyOf(each.metadata));
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

/** The signer's CA Secret; `unknown` before its watch has listed it. */
export function observedSecret(
  { secrets }: AuthorityWatches,
  signer: ClusterSigner,
): ObservedSecret {
  const watch = secrets.of(signer);
  if (watch?.synced !== true) return { kind: 'unknown', failure: watch?.failure };
  const secret = secrets.get(signer);
  return secret === undefined ? { kind: 'missing' } : { kind: 'found', secret };
}

/** The bundle that is published for the signer; undefined if there is none, or none is known. */
export function publishedBundle(
  { bundles }: AuthorityWatches,
  { spec }: ClusterSigner,
): ClusterTrustBundle | undefined {
  const { signerName, trustBundle } = spec;
  if (trustBundle === undefined) return undefined;
  return bundles.get(signerName)?.get(bundleName(signerName, trustBundle.name));
}

/** Whether the bundles under the signer's name are listed: only then does an unknown bundle not exist. */
export function areBundlesListed({ bundles }: AuthorityWatches, { spec }: ClusterSigner): boolean {
  return bundles.get(spec.signerName)?.synced === true;
}

/** A status without CAs, and bundles that are being listed, which tell whether there were any. */
export function isBundleAwaited({ bundles }: AuthorityWatches, signer: ClusterSigner): boolean {
  const watch = bundles.get(signer.spec.signerName);
  if (!isPublished(signer) || watch === undefined) return false;
  return !watch.synced && watch.failure === undefined && signer.status?.authorities === undefined;
}

/** What the certificates of our own ports need of their CA; undefined until all of it is listed. */
export function watchedCa(watches: AuthorityWatches, signer: ClusterSigner): WatchedCa | undefined {
  const secret = observedSecret(watches, signer);
  const isListed = !isPublished(signer) || areBundlesListed(watches, signer);
  if (secret.kind === 'unknown' || !isListed) return undefined;
  return {
    secret: secret.kind === 'found' ? secret.secret : undefined,
    bundle: publishedBundle(watches, signer),
  };
}

/** The error of each watch that is not up to date; undefined for one that has not listed yet. */
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
 * Fairness key: the Signers of each namespace, ClusterSigners, and our own ports take turns. A namespace that
 * writes many Signers delays only its own.
 */
export function fairnessKeyOf(key: string): FlowAssignment {
  return { distinguishers: [key.slice(0, key.indexOf('/') + 1)] };
}
