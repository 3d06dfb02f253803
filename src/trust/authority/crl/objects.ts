// SPDX-License-Identifier: Apache-2.0
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { secretOf, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { REVOCATIONS } from '#api/revocation/names.ts';
import { readRevocation, type Revocation } from '#api/revocation/revocation.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { resource } from '#kube/resource/resource.ts';
import { createWatchSet, type WatchSet } from '#kube/watch/watch-set.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import type { CrlConfigMap } from '#ca/revocation/published.ts';
import type { Component } from '#component/contract.ts';
import * as messages from '../messages.ts';

/** The paths of Revocations. */
export const REVOCATION_PATHS = resource(REVOCATIONS);

/** Watches of Revocations, and of each ConfigMap with CRLs by its name. */
export interface CrlObjects {
  /** Watches the objects of these ClusterSigners, or nothing if there are none. */
  watch(signers: readonly ClusterSigner[]): void;
  /** Undefined until listed. */
  revocationsOf(signerName: string): readonly Revocation[] | undefined;
  /** Undefined until listed. */
  configMapOf(signer: ClusterSigner): { readonly found: CrlConfigMap | undefined } | undefined;
  /** Stores the response to our own write. */
  observeConfigMap(configMap: CrlConfigMap): void;
  observeRevocation(revocation: Revocation): void;
  notReady(): readonly string[];
  readonly stop: () => Promise<void>;
}

/** Key of the single watch of all Revocations. */
const ALL = 'revocations';

/**
 * Creates the watches of Revocations and of the ConfigMaps with CRLs.
 *
 * @param onChange - called with the signer name of a Revocation, or undefined if anything may have
 * changed
 */
export function createCrlObjects(
  component: Component,
  onChange: (signerName: string | undefined) => void,
): CrlObjects {
  const stopped = new AbortController();
  const started = <T extends KubeObject>(reflector: Reflector<T>): Reflector<T> => {
    // After the first list, an absent object is missing.
    void reflector.whenSynced(stopped.signal).then(
      () => {
        onChange(undefined);
      },
      () => undefined,
    );
    return reflector;
  };
  const { revocations, configMaps } = watchSets(component, onChange, started);
  return {
    watch: (signers) => {
      revocations.reconcile(signers.length === 0 ? [] : [ALL]);
      configMaps.reconcile(signers.map(configMapKey));
    },
    revocationsOf: (signerName) => {
      const reflector = revocations.get(ALL);
      if (reflector?.synced !== true) return undefined;
      return reflector.list().flatMap((object) => {
        const read = attempt(() => readRevocation(object));
        return read instanceof SignerError || read.spec.signerName !== signerName ? [] : [read];
      });
    },
    configMapOf: (signer) => {
      const key = configMapKey(signer);
      const reflector = configMaps.get(key);
      return reflector?.synced === true ? { found: reflector.get(key) } : undefined;
    },
    observeConfigMap: (configMap) =>
      configMaps.get(keyOf(configMap.metadata))?.applyWrite(configMap),
    observeRevocation: (revocation) => revocations.get(ALL)?.applyWrite(revocation),
    notReady: () =>
      [...revocations.unread(), ...configMaps.unread()].map(([key, each]) =>
        messages.unlistedCrlObject(key, each.failure),
      ),
    stop: async () => {
      stopped.abort();
      await Promise.all([revocations.stop(), configMaps.stop()]);
    },
  };
}

/** @param started - called with each new watch */
function watchSets(
  component: Component,
  onChange: (signerName: string | undefined) => void,
  started: <T extends KubeObject>(reflector: Reflector<T>) => Reflector<T>,
): { readonly revocations: WatchSet<Revocation>; readonly configMaps: WatchSet<CrlConfigMap> } {
  const revocations = createWatchSet<Revocation>(() =>
    started(
      createReflector<Revocation>({
        ...component,
        path: REVOCATION_PATHS.collection(),
        onEvent: (_key, now, before) => {
          onChange((now ?? before)?.spec.signerName);
        },
      }),
    ),
  );
  const configMaps = createWatchSet<CrlConfigMap>((key) => {
    const [namespace = '', name = ''] = key.split('/');
    return started(
      createReflector<CrlConfigMap>({
        ...component,
        path: CONFIG_MAPS.collection(namespace),
        // RBAC with resourceNames grants list and watch for exactly this field selector only.
        fieldSelector: `metadata.name=${name}`,
        onEvent: () => {
          onChange(undefined);
        },
      }),
    );
  });
  return { revocations, configMaps };
}

function configMapKey({ spec }: ClusterSigner): string {
  const { namespace, name } = secretOf(spec);
  return keyOf({ namespace, name: crlConfigMapName(name) });
}
