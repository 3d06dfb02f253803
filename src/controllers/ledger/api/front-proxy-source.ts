// SPDX-License-Identifier: Apache-2.0
/** Reads by what the API server is known. */
import type { ConfigMap } from '../../../api/object/object.ts';
import { messageOf } from '../../../errors.ts';
import { CONFIG_MAPS } from '../../../kube/resource/core-v1.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { frontProxyOf, type FrontProxy } from './front-proxy.ts';

/** The ConfigMap in which the API server publishes how it proves itself, and its namespace. */
export const FRONT_PROXY = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

/** How often it is read again. A CA that is taken out is not believed for so long. */
const REREAD_MILLISECONDS = 60_000;
const RETRY_MILLISECONDS = 5_000;

const PATH = CONFIG_MAPS.object(FRONT_PROXY);

/** What the ConfigMap says now. */
export interface FrontProxySource {
  readonly current: () => FrontProxy | undefined;
  /** Reads it again and again. */
  run(signal: AbortSignal): Promise<void>;
}

/** Reads the ConfigMap. Nobody is believed before it was read; while it cannot be, the last one stays. */
export function createFrontProxySource({
  client,
  delay,
  log,
}: Pick<Component, 'client' | 'delay' | 'log'>): FrontProxySource {
  let current: FrontProxy | undefined;
  async function read(): Promise<number> {
    try {
      const configMap = await client.request<ConfigMap>({ method: 'GET', path: PATH });
      current = frontProxyOf(configMap.data ?? {});
      if (current === undefined)
        log.warn({}, 'the API server publishes no requestheader client CA');
      return REREAD_MILLISECONDS;
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'cannot read how the API server proves itself');
      return RETRY_MILLISECONDS;
    }
  }
  return {
    current: () => current,
    run: async (signal) => {
      while (!signal.aborted) {
        await delay(await read(), signal).catch(() => undefined);
      }
    },
  };
}
