// SPDX-License-Identifier: Apache-2.0
import { Command } from 'commander';
import { certificatesResources } from '../app/certificates-resources.ts';
import { runComponent } from '../app/component.ts';
import { addComponentOptions, type ComponentOptions } from '../app/component-options.ts';
import { SignerError } from '../errors.ts';
import type { Client } from '../kube/client/client.ts';
import type { Resource } from '../kube/resource/resource.ts';
import { createLibraryController } from './controller.ts';
import type { AuthorityType } from './define.ts';
import { requireNode } from '../app/version.ts';

/** Options of {@link run}. In a cluster the defaults fit. */
export interface RunOptions {
  /** A kubeconfig file. Default: KUBECONFIG, then ~/.kube/config, then the pod's ServiceAccount. */
  readonly kubeconfig?: string;
  /** Context of the kubeconfig. Default: its current-context. */
  readonly context?: string;
  /** Namespace of the Secrets of cluster-scoped issuers. Default: `countersign-keys`. */
  readonly secretNamespace?: string;
  /** `host:port` of /healthz, /readyz and /metrics. Port 0 takes a free port, which the log names. */
  readonly listen?: string;
  /** Format of the log lines on stderr. */
  readonly logFormat?: 'json' | 'pretty';
  /** The least severe level that is logged. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Namespace of the Leases by which replicas share the work. Default: the pod's namespace; outside a cluster no Leases. */
  readonly leaseNamespace?: string;
  /** Prefixes that no name in a leaf may have, in addition to `system:` and `kubeadm:`. */
  readonly reservedPrefixes?: readonly string[];
  /**
   * Seconds after its creation during which a CertificateSigningRequest is retried after an ordinary error;
   * then it is Failed with the last message. Default: 600. PodCertificateRequests are never failed
   * for that.
   */
  readonly maxRetrySeconds?: number;
  /** Seconds that one call of `check` or `sign` may take; then it counts as an ordinary error. Default: 60. */
  readonly callSeconds?: number;
  /** Stops the work as SIGTERM does: calls in flight are finished first. */
  readonly signal?: AbortSignal;
}

/** Well before kube-controller-manager deletes an approved request that has no certificate (one hour). */
const DEFAULT_MAX_RETRY_SECONDS = 600;
/** The default of the API server's own --request-timeout. */
const DEFAULT_CALL_SECONDS = 60;

/**
 * Serves the requests of an authority's issuers until SIGTERM, SIGINT or `options.signal`. Watches, queues,
 * retries, conditions, Events, metrics and Leases are those of Countersign's own components.
 *
 * @returns when the work is stopped and calls in flight are finished
 * @throws SignerError KUBE_CONFIG (`wait`) when no kubeconfig and no ServiceAccount is found
 */
export async function run<Config>(
  authority: AuthorityType<Config>,
  options: RunOptions = {},
): Promise<void> {
  requireNode(process.versions.node);
  const maxRetryMs = (options.maxRetrySeconds ?? DEFAULT_MAX_RETRY_SECONDS) * 1000;
  const callMs = (options.callSeconds ?? DEFAULT_CALL_SECONDS) * 1000;
  await runComponent(
    authority.name,
    componentOptions(options),
    async (component) => {
      const bundles = await served(component.client, 'clustertrustbundles');
      const requests = authority.requests.includes('PodCertificateRequest')
        ? await served(component.client, 'podcertificaterequests')
        : [];
      return createLibraryController({
        ...{ component, authority, maxRetryMs, callMs },
        bundles: bundles[0],
        pods: requests[0] && { requests: requests[0], legacy: requests[1] },
      });
    },
    options.signal,
  );
}

/** Empty when the API server does not serve the resource: CertificateSigningRequests are served all the same. */
async function served(
  client: Client,
  plural: 'clustertrustbundles' | 'podcertificaterequests',
): Promise<readonly Resource[]> {
  try {
    return await certificatesResources(client, plural);
  } catch (error) {
    if (error instanceof SignerError && error.code === 'KUBE_NOT_FOUND') return [];
    throw error;
  }
}

/** The defaults are those of the flags of our own components. */
function componentOptions(options: RunOptions): ComponentOptions {
  const defaults = addComponentOptions(new Command()).parse([], { from: 'user' });
  const { maxRetrySeconds: _retry, callSeconds: _call, signal: _signal, ...given } = options;
  const { reservedPrefixes = [], ...flags } = given;
  return {
    ...defaults.opts<ComponentOptions>(),
    ...flags,
    reservedPrefix: reservedPrefixes,
  };
}
