// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../api/cluster-signer.ts';
import { bundleName, type ClusterTrustBundle } from '../api/cluster-trust-bundle.ts';
import { keyOf, type Secret } from '../api/object.ts';
import type { Authority, OpenAuthority } from '../authorities/contract.ts';
import { SignerError, attempt, messageOf } from '../errors.ts';
import { createReflector } from '../kube/reflector.ts';
import { resource, type Resource } from '../kube/resource.ts';
import { createWatchSet } from '../kube/watch-set.ts';
import type { Component } from './component.ts';
import type { Sources } from './request-controller.ts';
import { materialOf, usableAuthority } from './usable-authority.ts';

export const SECRETS = resource({ group: '', version: 'v1', plural: 'secrets' });

/** The CAs of the served signers, opened, with the bundles that say whether they may sign. */
export interface AuthoritySources extends Sources {
  /** @throws SignerError (`authority`) why the signer cannot sign now */
  readonly usable: (signer: ClusterSigner) => Authority;
}

interface Opened {
  readonly version: string;
  readonly result: Authority | SignerError;
  readonly at: number;
}

/** A CA that cannot be used is looked at again after this: time heals what is not valid yet. */
const OPEN_AGAIN_MS = 10_000;

/** @param bundles - the ClusterTrustBundle resource in the version that the server has */
export function createAuthoritySources(
  component: Component,
  bundles: Resource,
  open: OpenAuthority,
): AuthoritySources {
  const opened = new Map<string, Opened>();
  const listeners: ((signerName: string) => void)[] = [];
  let served: readonly ClusterSigner[] = [];

  function changed(concerns: (signer: ClusterSigner) => boolean): void {
    for (const { spec } of served.filter(concerns)) {
      for (const listener of listeners) listener(spec.signerName);
    }
  }

  // Under resourceNames RBAC grants list and watch for this very field selector only.
  const secretWatches = createWatchSet<Secret>((key) => {
    const [namespace = '', name = ''] = key.split('/');
    return createReflector<Secret>({
      ...component,
      path: SECRETS.collection(namespace),
      fieldSelector: `metadata.name=${name}`,
      onEvent: () => changed((signer) => keyOf(secretOf(signer.spec)) === key),
    });
  });
  const bundleWatches = createWatchSet<ClusterTrustBundle>((signerName) =>
    createReflector<ClusterTrustBundle>({
      ...component,
      path: bundles.collection(),
      fieldSelector: `spec.signerName=${signerName}`,
      onEvent: () => changed((signer) => signer.spec.signerName === signerName),
    }),
  );

  /** A Secret is opened once for each of its versions, and again for a while if that failed. */
  function openSecret(secret: Secret): Authority {
    const key = keyOf(secret.metadata);
    const version = `${secret.metadata.uid}/${secret.metadata.resourceVersion}`;
    const before = opened.get(key);
    const current = before?.version === version && !isStale(before, component.clock());
    const { result } = current ? before : reopened(key, version, secret);
    if (result instanceof SignerError) throw result;
    return result;
  }

  function reopened(key: string, version: string, secret: Secret): Opened {
    const at = component.clock();
    const made = { version, at, result: attempt(() => open(materialOf(secret), at)) };
    opened.set(key, made);
    return made;
  }

  function usable(signer: ClusterSigner): Authority {
    const { signerName, trustBundle } = signer.spec;
    const secretKey = keyOf(secretOf(signer.spec));
    return usableAuthority({
      signer,
      secret: secretWatches.get(secretKey)?.get(secretKey),
      bundle:
        trustBundle === undefined
          ? undefined
          : bundleWatches.get(signerName)?.get(bundleName(signerName, trustBundle.name)),
      open: openSecret,
      propagationSeconds: component.propagationSeconds,
      now: component.clock(),
    });
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
      const secrets = new Set(signers.map((each) => keyOf(secretOf(each.spec))));
      secretWatches.reconcile(secrets);
      // What was opened holds a private key.
      for (const key of opened.keys()) if (!secrets.has(key)) opened.delete(key);
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
    notReady: () => {
      const listing = [...secretWatches.entries(), ...bundleWatches.entries()]
        .filter(([, each]) => !each.synced || each.failure !== undefined)
        .map(([name, each]) => `CA of ${name}: ${each.failure ?? 'not listed yet'}`);
      // One broken ClusterSigner among many is its own status' matter, not the whole process'.
      const faults = served.flatMap((signer) => faultOf(signer) ?? []);
      return faults.length > 0 && faults.length === served.length
        ? [...listing, ...faults]
        : listing;
    },
    stop: async () => {
      await Promise.all([secretWatches.stop(), bundleWatches.stop()]);
    },
  };
}

/** What failed may depend on the time: the CA's own, or that of a certificate above it. */
function isStale({ result, at }: Opened, now: number): boolean {
  return result instanceof SignerError && Math.abs(now - at) >= OPEN_AGAIN_MS;
}
