// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { bundleName, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { keyOf } from '../../api/object/object.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import type { Authority, OpenAuthority } from '../../authorities/contract.ts';
import { messageOf } from '../../errors.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { createWatchSet, type WatchSet } from '../../kube/watch/watch-set.ts';
import type { Component } from '../component/component.ts';
import { createOpenedSecrets, type OpenedSecrets } from './opened-secrets.ts';
import type { Sources } from '../requests/request-controller-init.ts';
import { createSecretWatches, type SecretWatches } from './secret-watches.ts';
import { serverTime } from '../component/server-time.ts';
import { usableAuthority } from './usable-authority.ts';

/** The CAs of the served signers, opened, and the bundles that say whether they may sign. */
export interface AuthoritySources extends Sources<ClusterSigner> {
  /**
   * The CA that the signer may sign with now.
   *
   * @throws SignerError (`authority`) why the signer cannot sign now
   */
  readonly usable: (signer: ClusterSigner) => Authority;
}

/** What is watched and opened for the served signers. */
interface SourcesState {
  readonly component: Component;
  readonly opened: OpenedSecrets;
  readonly secrets: SecretWatches;
  /** By signer name; only of signers with a trust bundle. */
  readonly bundles: WatchSet<ClusterTrustBundle>;
  readonly listeners: ((signerName: string) => void)[];
  served: readonly ClusterSigner[];
}

/**
 * Watches the CA Secrets and bundles of the signers passed to it.
 *
 * @param bundles - the ClusterTrustBundle resource in the version that the API server serves
 * @param open - parses the material of a CA, once for each version of its Secret
 */
export function createAuthoritySources(
  component: Component,
  bundles: Resource,
  open: OpenAuthority,
): AuthoritySources {
  const state = createState(component, bundles, open);
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
      await Promise.all([state.secrets.stop(), state.bundles.stop()]);
    },
  };
}

function createState(component: Component, bundles: Resource, open: OpenAuthority): SourcesState {
  const state: SourcesState = {
    component,
    opened: createOpenedSecrets(open, () => serverTime(component)),
    secrets: createSecretWatches({
      component,
      onEvent: (key, now) => {
        // The owner revoked access to the key: it does not stay in memory.
        if (now === undefined) state.opened.forget(key);
        notify(state, (signer) => keyOf(secretOf(signer.spec)) === key);
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
  state.opened.retain(new Set(signers.map((each) => keyOf(secretOf(each.spec)))));
  state.bundles.reconcile(
    signers
      .filter(({ spec }) => spec.trustBundle !== undefined)
      .map((each) => each.spec.signerName),
  );
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

/** Whether each watch of the signer has listed once, or cannot list now. */
function listed({ secrets, bundles }: SourcesState, signer: ClusterSigner): boolean {
  const { signerName, trustBundle } = signer.spec;
  const published = trustBundle === undefined ? [] : [bundles.get(signerName)];
  return [secrets.of(signer), ...published].every(
    (each) => each !== undefined && (each.synced || each.failure !== undefined),
  );
}

/**
 * The watches that have not listed, and the CAs that cannot sign if none can. One unusable CA among
 * several shows in the status of its ClusterSigner and does not make the process unready. A Signer never
 * does: it is its namespace's.
 */
function notReady(state: SourcesState): readonly string[] {
  const listing = [...state.secrets.unread(), ...state.bundles.unread()].map(
    ([name, watch]) => `CA of ${name}: ${watch.failure ?? 'not listed yet'}`,
  );
  const ofCluster = state.served.filter((signer) => !isNamespaced(signer));
  const faults = ofCluster.flatMap((signer) => faultOf(state, signer) ?? []);
  return faults.length > 0 && faults.length === ofCluster.length
    ? [...listing, ...faults]
    : listing;
}

function faultOf(state: SourcesState, signer: ClusterSigner): string | undefined {
  try {
    usable(state, signer);
    return undefined;
  } catch (error) {
    return `${signer.spec.signerName}: ${messageOf(error)}`;
  }
}
