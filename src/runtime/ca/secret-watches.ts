// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { keyOf, type Secret } from '../../api/object/object.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import { permissionText } from '../../kube/client/access-review.ts';
import { SECRETS } from '../../kube/resource/core-v1.ts';
import { createReflector, type Reflector } from '../../kube/watch/reflector.ts';
import { createWatchSet, type WatchSet } from '../../kube/watch/watch-set.ts';
import type { Component } from '../component/component.ts';

/** The CA Secrets of signers, each watched by its name. */
export interface SecretWatches {
  /** Watches the Secrets of these signers, and no others. */
  serve(signers: readonly ClusterSigner[]): void;
  /** The watch of a signer's Secret; undefined if the signer is not served. */
  of(signer: ClusterSigner): Reflector<Secret> | undefined;
  /** The signer's Secret from the cache. */
  get(signer: ClusterSigner): Secret | undefined;
  /** Stores the answer to our own write. */
  observe(secret: Secret): void;
  /** The watches of ClusterSigners' Secrets that have not listed or fail now. Those of Signers never count. */
  unread(): readonly (readonly [key: string, watch: Reflector<Secret>])[];
  stop(): Promise<void>;
}

/** What watching Secrets needs. */
export interface SecretWatchesInit {
  readonly component: Component;
  /** The Secret `namespace/name` was created, changed or deleted (`now` is undefined). */
  readonly onEvent: (key: string, now: Secret | undefined) => void;
  /** The Secret `namespace/name` is listed: if it is not in the cache, it does not exist. */
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
 * Watches each Secret by a field selector of its name: with resourceNames, RBAC grants list and watch only
 * so. Before the Secret of a Signer is read, the component checks its permission: users of the namespace
 * choose the name in a Signer, and a wrong one must not cause a stream of requests that end in 403.
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
      ofCluster.reconcile(signers.filter((each) => !isNamespaced(each)).map(keyOfSecret));
      ofNamespaces.reconcile(signers.filter(isNamespaced).map(keyOfSecret));
    },
    of: (signer) => setOf(signer).get(keyOfSecret(signer)),
    get: (signer) => {
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

/** Why the Secret is not read; undefined if the component has the permission. */
async function whyWithheld(component: Component, key: string): Promise<string | undefined> {
  const [namespace = '', name = ''] = key.split('/');
  const [missing] = await component.missingPermissions([
    { apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: READ, namespace },
  ]);
  if (missing === undefined) return undefined;
  return `${component.name} was not granted ${permissionText(missing)}; an administrator grants it with: countersign rbac --namespaced-signers --signer-secret ${key}`;
}
