// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { bundleName, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { keyOf } from '../../api/object/object.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import type { Authority, OpenAuthority } from '../../authorities/contract.ts';
import { messageOf } from '../../errors.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { createWatchSet } from '../../kube/watch/watch-set.ts';
import type { Component } from '../component/component.ts';
import { createOpenedSecrets } from './opened-secrets.ts';
import type { Sources } from '../requests/request-controller-init.ts';
import { createSecretWatches } from './secret-watches.ts';
import { serverTime } from '../component/server-time.ts';
import { usableAuthority } from './usable-authority.ts';

/** The CAs of the served signers, opened, with the bundles that say whether they may sign. */
export interface AuthoritySources extends Sources<ClusterSigner> {
  /** @throws SignerError (`authority`) why the signer cannot sign now */
  readonly usable: (signer: ClusterSigner) => Authority;
}

/** @param bundles - the ClusterTrustBundle resource in the version that the server has */
export function createAuthoritySources(
  component: Component,
  bundles: Resource,
  open: OpenAuthority,
): AuthoritySources {
  const opened = createOpenedSecrets(open, () => serverTime(component));
  const listeners: ((signerName: string) => void)[] = [];
  let served: readonly ClusterSigner[] = [];

  function changed(concerns: (signer: ClusterSigner) => boolean): void {
    for (const { spec } of served.filter(concerns)) {
      for (const listener of listeners) listener(spec.signerName);
    }
  }

  const secrets = createSecretWatches({
    component,
    onEvent: (key, now) => {
      // Its owner took it back.
      if (now === undefined) opened.forget(key);
      changed((signer) => keyOf(secretOf(signer.spec)) === key);
    },
  });
  const bundleWatches = createWatchSet<ClusterTrustBundle>((signerName) =>
    createReflector<ClusterTrustBundle>({
      ...component,
      path: bundles.collection(),
      fieldSelector: `spec.signerName=${signerName}`,
      onEvent: () => changed((signer) => signer.spec.signerName === signerName),
    }),
  );

  function usable(signer: ClusterSigner): Authority {
    const { signerName, trustBundle } = signer.spec;
    const secret = secrets.get(signer);
    const authority = usableAuthority({
      signer,
      secret,
      bundle:
        trustBundle === undefined
          ? undefined
          : bundleWatches.get(signerName)?.get(bundleName(signerName, trustBundle.name)),
      open: opened.open,
      last: opened.last,
      propagationSeconds: component.propagationSeconds,
      now: serverTime(component),
    });
    if (secret !== undefined) opened.signedWith(secret, authority);
    return authority;
  }

  function listed(signer: ClusterSigner): boolean {
    const { signerName, trustBundle } = signer.spec;
    const published = trustBundle === undefined ? [] : [bundleWatches.get(signerName)];
    return [secrets.of(signer), ...published].every(
      (each) => each !== undefined && (each.synced || each.failure !== undefined),
    );
  }

  function faultOf(signer: ClusterSigner): string | undefined {
    try {
      usable(signer);
      return undefined;
    } catch (error) {
      return `${signer.spec.signerName}: ${messageOf(error)}`;
    }
  }

  return {
    serve: (signers) => {
      served = signers;
      secrets.serve(signers);
      opened.retain(new Set(signers.map((each) => keyOf(secretOf(each.spec)))));
      bundleWatches.reconcile(
        signers
          .filter(({ spec }) => spec.trustBundle !== undefined)
          .map((each) => each.spec.signerName),
      );
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
    usable,
    listed,
    notReady: () => {
      const unread = bundleWatches
        .entries()
        .filter(([, each]) => !each.synced || each.failure !== undefined);
      const listing = [...secrets.unread(), ...unread].map(
        ([name, each]) => `CA of ${name}: ${each.failure ?? 'not listed yet'}`,
      );
      // One broken ClusterSigner among many is its own status' matter, not the whole process'; and a
      // Signer is its namespace's, however many are broken.
      const ofCluster = served.filter((signer) => !isNamespaced(signer));
      const faults = ofCluster.flatMap((signer) => faultOf(signer) ?? []);
      return faults.length > 0 && faults.length === ofCluster.length
        ? [...listing, ...faults]
        : listing;
    },
    stop: async () => {
      await Promise.all([secrets.stop(), bundleWatches.stop()]);
    },
  };
}
