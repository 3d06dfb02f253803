// SPDX-License-Identifier: Apache-2.0
import { secretOf, secretOrNone, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { keyOf, type Secret } from '#api/object/object.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { permissionText } from '#kube/client/access-review.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { createWatchSet, type WatchSet } from '#kube/watch/watch-set.ts';
import type { Component } from '#component/contract.ts';
import { publicSecretOf } from './held-ca.ts';
import * as messages from './messages.ts';

/** The CA Secrets of signers, each watched by its name. */
export interface SecretWatches {
  /** Watches the Secrets of these signers, and no others. */
  serve(signers: readonly ClusterSigner[]): void;
  /**
   * Returns the watch of a signer's Secret, or undefined if the signer is not served or its key is
   * in a key holder.
   */
  of(signer: ClusterSigner): Reflector<Secret> | undefined;
  /** The signer's Secret from the cache, or the public half of a CA in a key holder. */
  get(signer: ClusterSigner): Secret | undefined;
  /** Stores the response to our own write. */
  observe(secret: Secret): void;
  /**
   * Returns the watches of ClusterSigners' Secrets that have not listed or fail now. Those of
   * Signers never count.
   */
  unread(): readonly (readonly [key: string, watch: Reflector<Secret>])[];
  stop(): Promise<void>;
}

/** Dependencies of watching Secrets. */
export interface SecretWatchesInit {
  readonly component: Component;
  /**
   * Called when the Secret `namespace/name` was created, changed or deleted (`now` is undefined).
   */
  readonly onEvent: (key: string, now: Secret | undefined) => void;
  /**
   * Called when the Secret `namespace/name` is listed. If it is not in the cache, it does not
   * exist.
   */
  readonly onSynced?: (key: string) => void;
}

/** The watches, by the key of the Secret. */
interface WatchesState extends SecretWatchesInit {
  readonly ofCluster: WatchSet<Secret>;
  readonly ofNamespaces: WatchSet<Secret>;
  /** Aborted by `stop`. */
  readonly stopped: AbortController;
}

/**
 * Watches each Secret by a field selector of its name, since RBAC with resourceNames grants no
 * other list and watch. Checks permission before it reads the Secret of a Signer: users of the
 * namespace choose its name, and a wrong one must not cause a stream of 403 responses.
 */
export function createSecretWatches(init: SecretWatchesInit): SecretWatches {
  const state: WatchesState = {
    ...init,
    ofCluster: createWatchSet<Secret>((key) => watch(state, key)),
    ofNamespaces: createWatchSet<Secret>((key) =>
      watch(state, key, () => whyWithheld(init.component, key)),
    ),
    stopped: new AbortController(),
  };
  const { ofCluster, ofNamespaces, stopped } = state;
  const setOf = (signer: ClusterSigner): WatchSet<Secret> =>
    isNamespaced(signer) ? ofNamespaces : ofCluster;
  return {
    serve: (signers) => {
      const inSecrets = signers.filter(({ spec }) => secretOrNone(spec) !== undefined);
      ofCluster.reconcile(inSecrets.filter((each) => !isNamespaced(each)).map(keyOfSecret));
      ofNamespaces.reconcile(inSecrets.filter(isNamespaced).map(keyOfSecret));
    },
    of: (signer) =>
      secretOrNone(signer.spec) === undefined ? undefined : setOf(signer).get(keyOfSecret(signer)),
    get: (signer) => {
      const held = publicSecretOf(signer);
      if (held !== undefined) return held;
      const key = keyOfSecret(signer);
      return setOf(signer).get(key)?.get(key);
    },
    observe: (secret) => {
      for (const each of [ofCluster, ofNamespaces])
        each.get(keyOf(secret.metadata))?.applyWrite(secret);
    },
    unread: ofCluster.unread,
    stop: async () => {
      stopped.abort();
      await Promise.all([ofCluster.stop(), ofNamespaces.stop()]);
    },
  };
}

function keyOfSecret({ spec }: ClusterSigner): string {
  return keyOf(secretOf(spec));
}

function watch(
  { component, stopped, onEvent, onSynced }: WatchesState,
  key: string,
  preflight?: () => Promise<string | undefined>,
): Reflector<Secret> {
  const [namespace = '', name = ''] = key.split('/');
  const reflector = createReflector<Secret>({
    ...component,
    path: SECRETS.collection(namespace),
    fieldSelector: `metadata.name=${name}`,
    ...(preflight === undefined ? {} : { preflight }),
    onEvent: (_name, now) => {
      onEvent(key, now);
    },
  });
  void reflector.whenSynced(stopped.signal).then(
    () => onSynced?.(key),
    () => undefined,
  );
  return reflector;
}

const READ = ['list', 'watch'] as const;

/** Returns why the Secret is not read, or undefined if the component has the permission. */
async function whyWithheld(component: Component, key: string): Promise<string | undefined> {
  const [namespace = '', name = ''] = key.split('/');
  const [missing] = await component.missingPermissions([
    { apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: READ, namespace },
  ]);
  if (missing === undefined) return undefined;
  return messages.namespacedPermissionMissing(component.name, permissionText(missing), key);
}
