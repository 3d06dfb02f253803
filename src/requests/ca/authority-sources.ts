// SPDX-License-Identifier: Apache-2.0
import { secretOf, secretOrNone, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { keyOf } from '#api/object/object.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import type { Authority, OpenAuthority } from '#ca/custody/contract.ts';
import type { KeyHolder } from '#ca/custody/holder-client.ts';
import { messageOf } from '#base/errors.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createWatchSet, type WatchSet } from '#kube/watch/watch-set.ts';
import type { Component } from '#component/contract.ts';
import { watchHolder, type HolderWatch } from './holder-watch.ts';
import { createOpenedSecrets, type OpenedSecrets } from './opened-secrets.ts';
import { publicSecretOf } from './held-ca.ts';
import type { Sources } from '../loop/request-controller-init.ts';
import { createSecretWatches, type SecretWatches } from './secret-watches.ts';
import { serverTime } from '#component/server-time.ts';
import { hasCa, usableAuthority } from './usable-authority.ts';
import * as messages from './messages.ts';

/** The opened CAs of the served signers, and the bundles that decide whether they may sign. */
export interface AuthoritySources extends Sources<ClusterSigner> {
  /**
   * Returns the CA that the signer may sign with now.
   *
   * @throws SignerError (`authority`) if the signer cannot sign now
   */
  readonly usable: (signer: ClusterSigner) => Authority;
}

/** Watches and opened CAs of the served signers. */
interface SourcesState {
  readonly component: Component;
  readonly opened: OpenedSecrets;
  readonly secrets: SecretWatches;
  /** Bundles by signer name, only for signers with a trust bundle. */
  readonly bundles: WatchSet<ClusterTrustBundle>;
  readonly listeners: ((signerName: string) => void)[];
  served: readonly ClusterSigner[];
  /** Undefined without a key holder. */
  watch: HolderWatch | undefined;
}

/**
 * Watches the CA Secrets and bundles of the signers passed to it.
 *
 * @param bundles - the ClusterTrustBundle resource in the version that the API server serves
 * @param open - parses the material of a CA, once for each version of its Secret
 * @param holder - has the keys of CAs that `spec.authority.keyHolder` names
 */
export function createAuthoritySources(
  component: Component,
  bundles: Resource,
  open: OpenAuthority,
  holder?: KeyHolder,
): AuthoritySources {
  const state = createState(component, bundles, open);
  holder?.onChange((fault) => {
    if (fault === undefined) notify(state, isInHolder);
  });
  state.watch =
    holder && watchHolder({ component, holder, authorityOf: (signer) => usable(state, signer) });
  return {
    serve: (signers) => {
      serve(state, signers);
    },
    onChange: (listener) => {
      state.listeners.push(listener);
    },
    usable: (signer) => usable(state, signer),
    listed: (signer) => listed(state, signer),
    notReady: () => notReady(state),
    stop: async () => {
      state.watch?.stop();
      holder?.stop();
      await Promise.all([state.secrets.stop(), state.bundles.stop()]);
    },
  };
}

/** Reports whether the key of a signer's CA is in a key holder. */
function isInHolder({ spec }: ClusterSigner): boolean {
  return spec.authority.keyHolder !== undefined;
}

function createState(component: Component, bundles: Resource, open: OpenAuthority): SourcesState {
  const state: SourcesState = {
    component,
    opened: createOpenedSecrets(open, () => serverTime(component)),
    secrets: createSecretWatches({
      component,
      onEvent: (key, now) => {
        // The owner revoked access to the key, so remove it from memory.
        if (now === undefined) state.opened.forget(key);
        notify(state, ({ spec }) => keyOfSecret(spec) === key);
      },
    }),
    bundles: createWatchSet<ClusterTrustBundle>((signerName) =>
      createReflector<ClusterTrustBundle>({
        ...component,
        path: bundles.collection(),
        fieldSelector: `spec.signerName=${signerName}`,
        onEvent: () => {
          notify(state, (signer) => signer.spec.signerName === signerName);
        },
      }),
    ),
    listeners: [],
    served: [],
    watch: undefined,
  };
  return state;
}

function notify(state: SourcesState, isConcerned: (signer: ClusterSigner) => boolean): void {
  for (const { spec } of state.served.filter(isConcerned)) {
    for (const listener of state.listeners) listener(spec.signerName);
  }
}

function serve(state: SourcesState, signers: readonly ClusterSigner[]): void {
  state.served = signers;
  state.secrets.serve(signers);
  state.watch?.serve(signers);
  state.opened.retain(new Set(signers.flatMap(openedKeyOf)));
  state.bundles.reconcile(
    signers
      .filter(({ spec }) => spec.trustBundle !== undefined)
      .map((each) => each.spec.signerName),
  );
}

/** Returns the key of a CA among the opened ones. */
function openedKeyOf(signer: ClusterSigner): readonly string[] {
  const held = publicSecretOf(signer);
  return held === undefined ? [keyOf(secretOf(signer.spec))] : [keyOf(held.metadata)];
}

function keyOfSecret(spec: ClusterSigner['spec']): string | undefined {
  const secret = secretOrNone(spec);
  return secret && keyOf(secret);
}

function usable(state: SourcesState, signer: ClusterSigner): Authority {
  const { component, opened, secrets, bundles } = state;
  const { signerName, trustBundle } = signer.spec;
  const secret = secrets.get(signer);
  const authority = usableAuthority({
    signer,
    secret,
    bundle:
      trustBundle === undefined
        ? undefined
        : bundles.get(signerName)?.get(bundleName(signerName, trustBundle.name)),
    open: opened.open,
    last: opened.last,
    propagationSeconds: component.propagationSeconds,
    now: serverTime(component),
  });
  if (secret !== undefined) opened.signedWith(secret, authority);
  return authority;
}

/** Reports whether each watch of the signer has listed once, or cannot list now. */
function listed({ secrets, bundles }: SourcesState, signer: ClusterSigner): boolean {
  const { signerName, trustBundle } = signer.spec;
  const published = trustBundle === undefined ? [] : [bundles.get(signerName)];
  const ofSecret = publicSecretOf(signer) === undefined ? [secrets.of(signer)] : [];
  return [...ofSecret, ...published].every(
    (each) => each !== undefined && (each.synced || each.failure !== undefined),
  );
}

/**
 * Returns the watches that have not listed. If no CA of a ClusterSigner can sign, adds their
 * faults, so that a new version that can open none stops its rollout. One unusable CA among several
 * appears only in the status of its ClusterSigner.
 *
 * A missing Secret does not count, since `authority` or a user must create it. Neither does one
 * whose first CA awaits its certificate. A Signer never
 * counts, since its namespace owns it.
 */
function notReady(state: SourcesState): readonly string[] {
  const listing = [...state.secrets.unread(), ...state.bundles.unread()].map(([name, watch]) =>
    messages.unlistedCa(name, watch.failure),
  );
  const ofCluster = state.served.filter((signer) => {
    const secret = state.secrets.get(signer);
    return !isNamespaced(signer) && secret !== undefined && hasCa(secret);
  });
  const faults = ofCluster.flatMap((signer) => faultOf(state, signer) ?? []);
  return faults.length > 0 && faults.length === ofCluster.length
    ? [...listing, ...faults]
    : listing;
}

function faultOf(state: SourcesState, signer: ClusterSigner): string | undefined {
  try {
    usable(state, signer);
    const fault = state.watch?.faultOf(signer);
    return fault && messages.unusableCa(signer.spec.signerName, fault);
  } catch (error) {
    return messages.unusableCa(signer.spec.signerName, messageOf(error));
  }
}
