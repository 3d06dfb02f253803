// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, RequestInit } from '#kube/client/client.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import type { Delay, Random } from '#base/ports.ts';
import { until } from '../../cluster/until.ts';
import { recordedLog } from '../component/recorded-log.ts';

export interface ConfigMap {
  readonly kind?: string;
  readonly metadata: { name: string; namespace?: string; uid: string; resourceVersion: string };
  readonly data?: Readonly<Record<string, string>>;
}

/** ConfigMaps of one namespace: something to write and to watch that nobody else cares about. */
export interface ConfigMaps {
  readonly path: string;
  create(name: string, data?: Record<string, string>): Promise<ConfigMap>;
  update(object: ConfigMap, more?: Partial<RequestInit>): Promise<ConfigMap>;
  remove(object: ConfigMap): Promise<void>;
  /** Resolves when it is synced. */
  watch(signal: AbortSignal, fieldSelector?: string): Promise<Watched>;
}

export interface Watched {
  readonly reflector: Reflector<ConfigMap>;
  /** `+name`, `~name`, `-name`: new, changed, gone. */
  readonly told: string[];
  readonly restarts: string[];
  /** Waits until this was told so many times. */
  readonly tells: (what: string, times?: number) => Promise<void>;
}

export const PATIENCE_MS = 60_000;
export const random: Random = (size) => randomBytes(size);
export const delay: Delay = async (ms, signal) => {
  await sleep(ms, undefined, signal === undefined ? {} : { signal });
};

export function configMaps(client: Client, namespace: string): ConfigMaps {
  const path = CONFIG_MAPS.collection(namespace);
  return {
    path,
    create: (name, data = {}) => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
      return client.request<ConfigMap>({ method: 'POST', path, body });
    },
    update: (object, more = {}) => {
      const own = CONFIG_MAPS.object(object.metadata);
      return client.request<ConfigMap>({ method: 'PUT', path: own, body: object, ...more });
    },
    remove: async ({ metadata }) => {
      await client.request({ method: 'DELETE', path: CONFIG_MAPS.object(metadata) });
    },
    watch: (signal, fieldSelector) => watch({ client, path, signal, fieldSelector }),
  };
}

/** Kubernetes puts one ConfigMap of its own into every namespace, at a moment of its own. */
const NOT_ITS_OWN = 'metadata.name!=kube-root-ca.crt';

async function watch(init: {
  readonly client: Client;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly fieldSelector: string | undefined;
}): Promise<Watched> {
  const [told, restarts]: [string[], string[]] = [[], []];
  const reflector = createReflector<ConfigMap>({
    client: init.client,
    path: init.path,
    fieldSelector: init.fieldSelector ?? NOT_ITS_OWN,
    clock: Date.now,
    delay,
    random,
    log: recordedLog(),
    metrics: {
      watchRestart: (_watched, reason) => restarts.push(reason),
      watchEvent: () => undefined,
      watchStopped: () => undefined,
    },
    onEvent: (key, now, before) => {
      const kind = now === undefined ? '-' : before === undefined ? '+' : '~';
      told.push(`${kind}${key.split('/')[1] ?? ''}`);
    },
  });
  void reflector.run(init.signal);
  await reflector.whenSynced(AbortSignal.timeout(PATIENCE_MS));
  const tells = async (what: string, times = 1): Promise<void> => {
    const count = (): number => told.filter((each) => each === what).length;
    await until(`${what}, ${times} times`, PATIENCE_MS, () => count() >= times);
  };
  return { reflector, told, restarts, tells };
}
