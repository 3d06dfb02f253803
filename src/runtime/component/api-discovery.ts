// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import type { Client } from '../../kube/client/client.ts';
import { servedVersions } from '../../kube/client/discovery.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { Delay, Log } from '../../ports.ts';

/** Whether the API server has a kind that comes and goes with somebody else's installation. */
export interface ApiDiscovery {
  /** False also while nobody knows. */
  readonly served: boolean;
  /** Called after each change of `there`. */
  onChange(listener: () => void): void;
  /** Looks until `signal` is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Absence is no fault; not to know is. */
  notReady(): readonly string[];
  warnings(): readonly string[];
}

/** How soon an installation is noticed: one small read a replica, which every user may make. */
const DISCOVERY_INTERVAL_MS = 5_000;

/** Asks discovery: to watch CustomResourceDefinitions would take a right that nothing else needs. */
export function createApiDiscovery(
  { client, delay, log }: { readonly client: Client; readonly delay: Delay; readonly log: Log },
  resource: Resource,
): ApiDiscovery {
  const name = `${resource.plural}.${resource.group}/${resource.version}`;
  const listeners: (() => void)[] = [];
  let known: boolean | undefined;
  let trouble = 'not asked yet';

  async function look(): Promise<void> {
    const versions = await servedVersions(client, resource, [resource.version]);
    const there = versions.length > 0;
    if (there === known) return;
    const first = known === undefined;
    known = there;
    log.info({ resource: name }, there ? 'API found, starting' : 'API not served, waiting for it');
    if (!first || there) for (const listener of listeners) listener();
  }

  return {
    get served() {
      return known === true;
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
    run: async (signal) => {
      while (!signal.aborted) {
        await look().catch((error: unknown) => {
          trouble = messageOf(error);
        });
        await delay(DISCOVERY_INTERVAL_MS, signal).catch(() => undefined);
      }
    },
    notReady: () =>
      known === undefined ? [`whether ${name} is served is not known: ${trouble}`] : [],
    warnings: () =>
      known === false
        ? [
            `the API server does not serve ${name}: nothing is answered until cert-manager is installed`,
          ]
        : [],
  };
}
