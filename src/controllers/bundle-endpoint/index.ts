// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { isOurs } from '../../api/signer/bundle-annotations.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { createReflector, type Reflector } from '../../kube/watch/reflector.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { createClusterSigners } from '../../runtime/signers/cluster-signers.ts';
import type { Signers } from '../../runtime/signers/signer-set.ts';
import { look, type BundleLook, type Publication } from './decide.ts';
import { permissions } from './permissions.ts';

/** Trust domain → the names of the signers that issue its X509-SVIDs. */
export type ServedTrustDomains = ReadonlyMap<string, readonly string[]>;

/** The documents of the trust domains, kept up to date. */
export interface BundleEndpoint extends Controller {
  /** The bundle of a trust domain; undefined: it cannot be served now. */
  documentOf(trustDomain: string): string | undefined;
}

interface State {
  readonly component: Component;
  readonly signers: Signers;
  readonly bundles: Reflector<ClusterTrustBundle>;
  readonly refreshSeconds: number;
  /** By trust domain. */
  readonly looks: Map<string, BundleLook>;
}

/**
 * Keeps the SPIFFE bundles of trust domains as their ClusterTrustBundles are published. Each replica has them all: no
 * Lease, no writes.
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
  const state: State = { component, signers, bundles, refreshSeconds, looks: new Map() };
  signers.onChange(update);
  return {
    permissions,
    signers: signers.all,
    documentOf: (domain) => state.looks.get(domain)?.served?.text,
    notReady: () => [
      ...(signers.settled ? [] : [`ClusterSigners: ${signers.failure ?? 'not listed yet'}`]),
      ...(bundles.synced ? [] : [`bundles: ${bundles.failure ?? 'not listed yet'}`]),
    ],
    warnings: () => warningsOf(state, domains),
    run: async (signal) => {
      void bundles.whenSynced(signal).then(update, () => undefined);
      await Promise.all([signers.run(signal), bundles.run(signal)]);
    },
  };
}

function lookAt(
  { component, signers, bundles, refreshSeconds, looks }: State,
  domain: string,
  names: readonly string[],
): void {
  const before = looks.get(domain);
  const publications = names.map((signerName): Publication => {
    const signer = signers.serving(signerName);
    return { signerName, signer, bundle: bundleOf(bundles, component, signerName, signer) };
  });
  const { secretNamespace } = component;
  const now = look({ publications, before: before?.served, secretNamespace, refreshSeconds });
  looks.set(domain, now);
  tell(component, domain, before, now);
}

/** Once each: a broken look is repeated with every event. */
function tell(
  { log }: Component,
  trustDomain: string,
  before: BundleLook | undefined,
  { problem, served }: BundleLook,
): void {
  if (problem !== undefined) {
    if (problem !== before?.problem)
      log.warn({ trustDomain, error: problem }, 'bundle is not served as published');
    return;
  }
  if (served === undefined || served.text === before?.served?.text) return;
  log.info({ trustDomain, anchors: served.fingerprints }, 'serves the bundle of a trust domain');
}

/** A bundle outlives its ClusterSigner. */
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
    .find((each) => each.spec.signerName === signerName && isOurs(each, secretNamespace));
}

/** What was served before is still served while a watch is broken. */
function warningsOf(
  { signers, bundles, looks }: State,
  domains: ServedTrustDomains,
): readonly string[] {
  const broken = [
    ['ClusterSigners', signers.failure],
    ['bundles', bundles.failure],
  ] as const;
  return [
    ...(domains.size === 0 ? ['no --trust-domain: no bundle is served'] : []),
    ...broken.flatMap(([what, failure]) => (failure === undefined ? [] : [`${what}: ${failure}`])),
    ...[...looks].flatMap(([domain, { problem = '', leftOut = '' }]) =>
      [problem, leftOut]
        .filter((each) => each !== '')
        .map((each) => `trust domain ${domain}: ${each}`),
    ),
  ];
}
