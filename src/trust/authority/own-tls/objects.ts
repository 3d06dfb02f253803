// SPDX-License-Identifier: Apache-2.0
import { keyOf, type ConfigMap, type KubeObject, type Secret } from '#api/object/object.ts';
import { LEDGER_API_SERVICE, OWN_TLS_CONFIG_MAP, ownTlsSecret } from '#api/signer/own-tls.ts';
import { CONFIG_MAPS, SECRETS } from '#kube/resource/core-v1.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { createWatchSet, type WatchSet } from '#kube/watch/watch-set.ts';
import type { Component } from '#component/contract.ts';
import type { ObservedSecret } from '../decide/inspect.ts';
import { API_SERVICES, type ApiService } from './api-service.ts';
import type { ConfigMapLook } from './decide-bundle.ts';
import * as messages from '../messages.ts';

/**
 * Watches of the Secrets of our own ports, the ConfigMap with their CA, and the ledger's
 * APIService, each by its name.
 */
export interface OwnTlsObjects {
  watch(wanted: boolean): void;
  secret(name: string): ObservedSecret;
  configMap(): ConfigMapLook;
  /**
   * Undefined while it is unknown or missing. Only installations with the aggregated API have one.
   */
  apiService(): ApiService | undefined;
  /** Stores the response to our own write. */
  observeSecret(secret: Secret): void;
  observeConfigMap(configMap: ConfigMap): void;
  observeApiService(service: ApiService): void;
  notReady(): readonly string[];
  readonly stop: () => Promise<void>;
}

/** The components, their namespace, and whether there is an APIService. */
interface ObjectsPlace {
  readonly namespace: string;
  readonly components: readonly string[];
  readonly aggregatedApi?: boolean | undefined;
}

export function createOwnTlsObjects(
  component: Component,
  { namespace, components, aggregatedApi = false }: ObjectsPlace,
  onChange: () => void,
): OwnTlsObjects {
  const stopped = new AbortController();
  const init = { component, onChange, stopped: stopped.signal };

  const secrets = watchesByName<Secret>(init, SECRETS.collection(namespace));
  const configMaps = watchesByName<ConfigMap>(init, CONFIG_MAPS.collection(namespace));
  const apiServices = watchesByName<ApiService>(init, API_SERVICES.collection());
  const found = <T extends KubeObject>(reflector: Reflector<T> | undefined, name: string) =>
    reflector?.get(keyOf({ namespace, name }));

  return {
    watch: (wanted) => {
      secrets.reconcile(wanted ? components.map(ownTlsSecret) : []);
      configMaps.reconcile(wanted ? [OWN_TLS_CONFIG_MAP] : []);
      apiServices.reconcile(wanted && aggregatedApi ? [LEDGER_API_SERVICE] : []);
    },
    secret: (name) => {
      const reflector = secrets.get(name);
      if (reflector?.synced !== true) return { kind: 'unknown', failure: reflector?.failure };
      const secret = found(reflector, name);
      return secret === undefined ? { kind: 'missing' } : { kind: 'found', secret };
    },
    configMap: () => {
      const reflector = configMaps.get(OWN_TLS_CONFIG_MAP);
      if (reflector?.synced !== true) return { kind: 'unknown' };
      const configMap = found(reflector, OWN_TLS_CONFIG_MAP);
      return configMap === undefined ? { kind: 'missing' } : { kind: 'found', configMap };
    },
    apiService: () => apiServices.get(LEDGER_API_SERVICE)?.get(keyOf({ name: LEDGER_API_SERVICE })),
    observeSecret: (secret) => secrets.get(secret.metadata.name)?.applyWrite(secret),
    observeConfigMap: (configMap) => configMaps.get(configMap.metadata.name)?.applyWrite(configMap),
    observeApiService: (service) => apiServices.get(service.metadata.name)?.applyWrite(service),
    notReady: () =>
      [...secrets.unread(), ...configMaps.unread()].map(([name, each]) =>
        messages.unlistedObject(namespace, name, each.failure),
      ),
    stop: async () => {
      stopped.abort();
      await Promise.all([secrets.stop(), configMaps.stop(), apiServices.stop()]);
    },
  };
}

interface WatchesInit {
  readonly component: Component;
  readonly onChange: () => void;
  readonly stopped: AbortSignal;
}

function watchesByName<T extends KubeObject>(
  { component, onChange, stopped }: WatchesInit,
  path: string,
): WatchSet<T> {
  return createWatchSet<T>((name) => {
    const reflector = createReflector<T>({
      ...component,
      path,
      // RBAC with resourceNames grants list and watch for exactly this field selector only.
      fieldSelector: `metadata.name=${name}`,
      onEvent: onChange,
    });
    // After the first list, an absent object is missing.
    void reflector.whenSynced(stopped).then(onChange, () => undefined);
    return reflector;
  });
}
