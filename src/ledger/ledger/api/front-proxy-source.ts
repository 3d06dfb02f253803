// SPDX-License-Identifier: Apache-2.0
/** Reads the configuration that authenticates the API server. */
import type { ConfigMap } from '#api/object/object.ts';
import { messageOf } from '#base/errors.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import type { Component } from '#component/contract.ts';
import { frontProxyOf, type FrontProxy } from './front-proxy.ts';
import { FRONT_PROXY } from '../objects.ts';
import * as messages from '../messages.ts';

/** Interval between reads. A removed CA stays trusted for that long. */
const REREAD_MILLISECONDS = 60_000;
const RETRY_MILLISECONDS = 5_000;

const PATH = CONFIG_MAPS.object(FRONT_PROXY);

/** The latest configuration in the ConfigMap. */
export interface FrontProxySource {
  readonly current: () => FrontProxy | undefined;
  /** Reads it periodically. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Returns a source that reads the ConfigMap. It trusts no client before the first read. While reads
 * fail, the last configuration stays.
 */
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
      if (current === undefined) log.warn({}, messages.NO_CLIENT_CA);
      return REREAD_MILLISECONDS;
    } catch (error) {
      log.warn({ error: messageOf(error) }, messages.CLIENT_CA_UNREADABLE);
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
