// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { isManaged } from '#api/signer/bundle-annotations.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import type { Component, Controller } from '#component/contract.ts';
import { createClusterSigners } from '#component/signers/cluster-signers.ts';
import type { Signers } from '#component/signers/signer-set.ts';
import { decideServedBundle, type BundleDecision, type Publication } from './decide.ts';
import { permissions } from './permissions.ts';
import * as messages from './messages.ts';

/** Trust domain → the names of the signers that issue its X509-SVIDs. */
export type ServedTrustDomains = ReadonlyMap<string, readonly string[]>;

/** The documents of the trust domains, kept up to date. */
export interface BundleEndpoint extends Controller {
  /** Returns the bundle of a trust domain, or undefined if it cannot be served now. */
  documentOf(trustDomain: string): string | undefined;
}

interface State {
  readonly component: Component;
  readonly signers: Signers;
  readonly bundles: Reflector<ClusterTrustBundle>;
  readonly refreshSeconds: number;
  /** Results by trust domain. */
  readonly decisions: Map<string, BundleDecision>;
}

/**
 * Keeps the SPIFFE bundles of trust domains in step with their ClusterTrustBundles. Each replica
 * serves all of them, without a Lease and without writes.
 */
export function createBundleEndpoint(
  component: Component,
  bundle: Resource,
  domains: ServedTrustDomains,
  refreshSeconds: number,
): BundleEndpoint {
  const update = (): void => {
    if (!signers.settled || !bundles.synced) return;
    for (const [domain, names] of domains) lookAt(state, domain, names);
  };
  const signers = createClusterSigners(component);
  const bundles = createReflector<ClusterTrustBundle>({
    ...component,
    path: bundle.collection(),
    onEvent: update,
  });
  const state: State = { component, signers, bundles, refreshSeconds, decisions: new Map() };
  signers.onChange(update);
  return {
    permissions,
    signers: signers.all,
    documentOf: (domain) => state.decisions.get(domain)?.served?.text,
    notReady: () => [
      ...(signers.settled ? [] : [messages.unlistedSigners(signers.failure)]),
      ...(bundles.synced ? [] : [messages.unlistedBundles(bundles.failure)]),
    ],
    warnings: () => warningsOf(state, domains),
    run: async (signal) => {
      void bundles.whenSynced(signal).then(update, () => undefined);
      await Promise.all([signers.run(signal), bundles.run(signal)]);
    },
  };
}

function lookAt(
  { component, signers, bundles, refreshSeconds, decisions }: State,
  domain: string,
  names: readonly string[],
): void {
  const before = decisions.get(domain);
  const publications = names.map((signerName): Publication => {
    const signer = signers.serving(signerName);
    return { signerName, signer, bundle: bundleOf(bundles, component, signerName, signer) };
  });
  const { secretNamespace } = component;
  const now = decideServedBundle({
    publications,
    before: before?.served,
    secretNamespace,
    refreshSeconds,
  });
  decisions.set(domain, now);
  tell(component, domain, before, now);
}

/** Logs each problem once, since every event repeats a failed evaluation. */
function tell(
  { log }: Component,
  trustDomain: string,
  before: BundleDecision | undefined,
  { problem, served }: BundleDecision,
): void {
  if (problem !== undefined) {
    if (problem !== before?.problem)
      log.warn({ trustDomain, error: problem }, messages.BUNDLE_NOT_SERVED);
    return;
  }
  if (served === undefined || served.text === before?.served?.text) return;
  log.info({ trustDomain, anchors: served.fingerprints }, messages.BUNDLE_SERVED);
}

/** Finds the bundle by its signer name if its ClusterSigner is gone. */
function bundleOf(
  bundles: Reflector<ClusterTrustBundle>,
  { secretNamespace }: Component,
  signerName: string,
  signer: ClusterSigner | undefined,
): ClusterTrustBundle | undefined {
  const name = signer?.spec.trustBundle?.name;
  if (name !== undefined) return bundles.get(bundleName(signerName, name));
  return bundles
    .list()
    .find((each) => each.spec.signerName === signerName && isManaged(each, secretNamespace));
}

/** Reports broken watches. The previous bundles are still served meanwhile. */
function warningsOf(
  { signers, bundles, decisions }: State,
  domains: ServedTrustDomains,
): readonly string[] {
  const broken = [
    ['ClusterSigners', signers.failure],
    ['bundles', bundles.failure],
  ] as const;
  return [
    ...(domains.size === 0 ? [messages.NO_TRUST_DOMAIN] : []),
    ...broken.flatMap(([what, failure]) =>
      failure === undefined ? [] : [messages.brokenWatch(what, failure)],
    ),
    ...[...decisions].flatMap(([domain, { problem = '', leftOut = '' }]) =>
      [problem, leftOut]
        .filter((each) => each !== '')
        .map((each) => messages.ofTrustDomain(domain, each)),
    ),
  ];
}
