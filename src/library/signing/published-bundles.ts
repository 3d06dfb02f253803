// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createWatchSet } from '#kube/watch/watch-set.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import type { Component } from '#component/contract.ts';
import type { Sources } from '#requests/loop/request-controller-init.ts';
import * as messages from '../messages.ts';

/** The ClusterTrustBundles of issuers that name one. */
export interface PublishedBundles<S> extends Sources<S> {
  /**
   * Returns the anchors of the issuer's bundle. Undefined: the issuer names none. Empty: the bundle
   * cannot be parsed.
   */
  readonly anchors: (issuer: S) => readonly Certificate[] | undefined;
}

const NO_ANCHORS: readonly Certificate[] = [];

/**
 * Watches the bundles of the served issuers.
 *
 * @param resource - ClusterTrustBundles. Undefined if the API server does not serve them
 */
export function watchPublishedBundles<S extends SignerObject>(
  component: Component,
  resource: Resource | undefined,
): PublishedBundles<S> {
  const listeners: ((signerName: string) => void)[] = [];
  /** Signer names of namespaced issuers. Their owners must not make the process unready. */
  let ofNamespaces: ReadonlySet<string> = new Set();
  /** Anchors by version of the bundle: an object is replaced, never changed. */
  const read = new WeakMap<ClusterTrustBundle, readonly Certificate[]>();
  const watches = createWatchSet<ClusterTrustBundle>((signerName) =>
    createReflector<ClusterTrustBundle>({
      ...component,
      path: resource?.collection() ?? '',
      fieldSelector: `spec.signerName=${signerName}`,
      onEvent: () => {
        for (const listener of listeners) listener(signerName);
      },
    }),
  );

  function anchorsIn(bundle: ClusterTrustBundle): readonly Certificate[] {
    const known = read.get(bundle);
    if (known !== undefined) return known;
    const found = attempt(() => readAnchors(bundle.spec.trustBundle));
    const anchors = found instanceof SignerError ? NO_ANCHORS : found;
    read.set(bundle, anchors);
    return anchors;
  }

  return {
    anchors: ({ spec: { signerName, trustBundle } }) => {
      if (trustBundle === undefined) return undefined;
      const bundle = watches.get(signerName)?.get(bundleName(signerName, trustBundle.name));
      return bundle === undefined ? NO_ANCHORS : anchorsIn(bundle);
    },
    serve: (issuers) => {
      const published = issuers.filter(({ spec }) => spec.trustBundle !== undefined);
      ofNamespaces = new Set(published.filter(isNamespaced).map(({ spec }) => spec.signerName));
      watches.reconcile(resource === undefined ? [] : published.map(({ spec }) => spec.signerName));
    },
    listed: ({ spec }) => {
      const watch = watches.get(spec.signerName);
      return watch === undefined || watch.synced || watch.failure !== undefined;
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
    notReady: () =>
      watches
        .unread()
        .filter(([name]) => !ofNamespaces.has(name))
        .map(([name, each]) => messages.unlistedBundle(name, each.failure)),
    stop: watches.stop,
  };
}
