// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { servedVersions } from '#kube/client/discovery.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { Delay, Log } from '#base/ports.ts';

/** Reports whether the API server serves a resource that another project installs and removes. */
export interface ApiDiscovery {
  /** False also before the first answer. */
  readonly served: boolean;
  /** Calls the listener after each change of `served`. */
  onChange(listener: () => void): void;
  /** Polls until `signal` is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Returns why it is not ready: there is no answer yet. A resource that is not served is only a
   * warning.
   */
  notReady(): readonly string[];
  /** Returns a warning while the resource is not served. */
  warnings(): readonly string[];
}

/**
 * The delay until an installation is noticed. Each replica sends one small GET, which needs no
 * permission.
 */
const DISCOVERY_INTERVAL_MS = 5_000;

/**
 * Polls the discovery API. Watching CustomResourceDefinitions instead would take a permission that
 * nothing else needs.
 */
export function createApiDiscovery(
  { client, delay, log }: { readonly client: Client; readonly delay: Delay; readonly log: Log },
  resource: Resource,
): ApiDiscovery {
  const name = `${resource.plural}.${resource.group}/${resource.version}`;
  const listeners: (() => void)[] = [];
  let known: boolean | undefined;
  let failure = 'no request yet';

  async function look(): Promise<void> {
    const versions = await servedVersions(client, resource, [resource.version]);
    const served = versions.length > 0;
    if (served === known) return;
    const first = known === undefined;
    known = served;
    log.info({ resource: name }, served ? 'API found, starting' : 'API not served, waiting for it');
    if (!first || served) for (const listener of listeners) listener();
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
          failure = messageOf(error);
        });
        await delay(DISCOVERY_INTERVAL_MS, signal).catch(() => undefined);
      }
    },
    notReady: () =>
      known === undefined
        ? [`cannot find out whether the API server serves ${name}: ${failure}`]
        : [],
    warnings: () =>
      known === false
        ? [
            `the API server does not serve ${name}, so these requests are not processed; install cert-manager`,
          ]
        : [],
  };
}
