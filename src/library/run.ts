// SPDX-License-Identifier: Apache-2.0
import { Command } from 'commander';
import { certificatesResources } from '#component/certificates-resources.ts';
import { runComponent } from '#app/run-component.ts';
import { addComponentOptions, type ComponentOptions } from '#app/component-options.ts';
import { SignerError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { authoritiesOf, type AuthorityList } from './authorities.ts';
import { createLibraryControllers } from './controller.ts';
import type { AuthorityType } from './define.ts';
import { requireNode } from '#app/version.ts';

/** Options of {@link run}. In a cluster the defaults are enough. */
export interface RunOptions {
  /** A kubeconfig file. Default: KUBECONFIG, then ~/.kube/config, then the pod's ServiceAccount. */
  readonly kubeconfig?: string;
  /** Context of the kubeconfig. Default: its current-context. */
  readonly context?: string;
  /** Namespace of the Secrets of cluster-scoped issuers. Default: `countersign-keys`. */
  readonly secretNamespace?: string;
  /**
   * `host:port` of /healthz, /readyz, and /metrics. Port 0 uses a free port, which the log names.
   */
  readonly listen?: string;
  /** Format of the log lines on stderr. */
  readonly logFormat?: 'json' | 'pretty';
  /** Lowest level that is logged. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /**
   * Namespace of the Leases that divide the work among replicas. Default: the pod's namespace, and
   * no Leases outside a cluster.
   */
  readonly leaseNamespace?: string;
  /** Prefixes that no name in a leaf may have, in addition to `system:` and `kubeadm:`. */
  readonly reservedPrefixes?: readonly string[];
  /**
   * Seconds after its creation during which a CertificateSigningRequest is retried after an
   * ordinary error. Then it is Failed with the last message. Default: 600. PodCertificateRequests
   * never fail for this reason.
   */
  readonly maxRetrySeconds?: number;
  /**
   * Limit in seconds on one call of `check` or `sign`. A longer call counts as an ordinary error.
   * Default: 60.
   */
  readonly callSeconds?: number;
  /** Stops the work as SIGTERM does, after calls in flight have finished. */
  readonly signal?: AbortSignal;
}

/**
 * Well before kube-controller-manager deletes an approved request without a certificate (one hour).
 */
const DEFAULT_MAX_RETRY_SECONDS = 600;
/** Default of the API server's own --request-timeout. */
const DEFAULT_CALL_SECONDS = 60;

/**
 * Serves the requests of an authority's issuers until SIGTERM, SIGINT, or `options.signal`.
 * Watches, queues, retries, conditions, Events, metrics, and Leases are those of Countersign's own
 * components.
 *
 * @param authority - the definition, or several of one name with a kind each, such as an Issuer and
 *   a ClusterIssuer
 * @returns when the work is stopped and calls in flight have finished
 * @throws SignerError KUBE_CONFIG (`wait`) without a kubeconfig and a ServiceAccount, or USAGE
 *   (`fail`) for definitions of different names or of one kind
 */
export async function run<Config, Configs extends readonly unknown[] = readonly Config[]>(
  authority: AuthorityType<Config> | AuthorityList<Configs>,
  options: RunOptions = {},
): Promise<void> {
  requireNode(process.versions.node);
  const authorities = authoritiesOf(authority);
  const maxRetryMs = (options.maxRetrySeconds ?? DEFAULT_MAX_RETRY_SECONDS) * 1000;
  const callMs = (options.callSeconds ?? DEFAULT_CALL_SECONDS) * 1000;
  await runComponent(
    { name: authorities[0].name },
    componentOptions(options),
    async (component) => {
      const bundles = await served(component.client, 'clustertrustbundles');
      const requests = authorities.some((each) => each.requests.includes('PodCertificateRequest'))
        ? await served(component.client, 'podcertificaterequests')
        : [];
      const shared = {
        component,
        maxRetryMs,
        callMs,
        bundles: bundles[0],
        pods: requests[0] && { requests: requests[0], legacy: requests[1] },
      };
      return createLibraryControllers(shared, authorities);
    },
    options.signal,
  );
}

/**
 * Returns an empty list if the API server does not serve the resource. CertificateSigningRequests
 * are served nevertheless.
 */
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

/** Returns the options. Defaults are those of the flags of our own components. */
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
