// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { keyOf, type Secret } from '../../api/object/object.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import { permissionText } from '../../kube/client/access-review.ts';
import { createReflector, type Reflector } from '../../kube/watch/reflector.ts';
import { resource } from '../../kube/resource/resource.ts';
import { createWatchSet, type WatchSet } from '../../kube/watch/watch-set.ts';
import type { Component } from '../component/component.ts';

export const SECRETS = resource({ group: '', version: 'v1', plural: 'secrets' });

/** The CA Secrets of signers, each watched by its name. */
export interface SecretWatches {
  /** Watches the Secrets of these signers, and no others. */
  serve(signers: readonly ClusterSigner[]): void;
  /** The watch of a signer's Secret, while it is served. */
  of(signer: ClusterSigner): Reflector<Secret> | undefined;
  /** The signer's Secret, as far as it is known. */
  get(signer: ClusterSigner): Secret | undefined;
  /** Takes in a Secret as a write of ours left it. */
  observe(secret: Secret): void;
  /** Those of ClusterSigners that cannot be read; a team's mistake is the team's. */
  unread(): readonly (readonly [key: string, watch: Reflector<Secret>])[];
  stop(): Promise<void>;
}

export interface SecretWatchesInit {
  readonly component: Component;
  /** A Secret appeared, changed or is gone. */
  readonly onEvent: (key: string, now: Secret | undefined) => void;
  /** From then on "not there" means missing. */
  readonly onSynced?: (key: string) => void;
}

/**
 * Under resourceNames RBAC grants list and watch for the field selector of the name only. Whether the
 * Secret of a Signer was granted us is asked before it is read: whoever writes a Signer decides which
 * name stands there, and that must not become a stream of refused calls.
 */
export function createSecretWatches(init: SecretWatchesInit): SecretWatches {
  const { component } = init;
  const stopped = new AbortController();
  const ofCluster = createWatchSet<Secret>((key) => watch(key));
  const ofNamespaces = createWatchSet<Secret>((key) => watch(key, () => whyWithheld(key)));

  function watch(key: string, withheld?: () => Promise<string | undefined>): Reflector<Secret> {
    const [namespace = '', name = ''] = key.split('/');
    const reflector = createReflector<Secret>({
      ...component,
      path: SECRETS.collection(namespace),
      fieldSelector: `metadata.name=${name}`,
      ...(withheld === undefined ? {} : { preflight: withheld }),
      onEvent: (_name, now) => {
        init.onEvent(key, now);
      },
    });
    void reflector.whenSynced(stopped.signal).then(
      () => init.onSynced?.(key),
      () => undefined,
    );
    return reflector;
  }

  async function whyWithheld(key: string): Promise<string | undefined> {
    const [namespace = '', name = ''] = key.split('/');
    const [missing] = await component.missingPermissions([
      { apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: READ, namespace },
    ]);
    if (missing === undefined) return undefined;
    return `${component.name} was not granted ${permissionText(missing)}; an administrator does that with countersign rbac --namespaced-signers --signer-secret ${key}`;
  }

  function setOf(signer: ClusterSigner): WatchSet<Secret> {
    return isNamespaced(signer) ? ofNamespaces : ofCluster;
  }

  const keyOfSecret = (signer: ClusterSigner): string => keyOf(secretOf(signer.spec));

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
    unread: () =>
      ofCluster.entries().filter(([, each]) => !each.synced || each.failure !== undefined),
    stop: async () => {
      stopped.abort();
      await Promise.all([ofCluster.stop(), ofNamespaces.stop()]);
    },
  };
}

const READ = ['list', 'watch'] as const;
