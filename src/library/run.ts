// SPDX-License-Identifier: Apache-2.0
import { Command } from 'commander';
import { certificatesResources } from '../app/certificates-resources.ts';
import { runComponent } from '../app/component.ts';
import { addComponentOptions, type ComponentOptions } from '../app/component-options.ts';
import { requireNode } from '../app/node-version.ts';
import { SignerError } from '../errors.ts';
import type { Client } from '../kube/client/client.ts';
import type { Resource } from '../kube/resource/resource.ts';
import { createLibraryController } from './controller.ts';
import type { AuthorityType } from './define.ts';

/** How an author's process runs. In a cluster nothing of it is needed. */
export interface RunOptions {
  /** A kubeconfig file; else KUBECONFIG, ~/.kube/config, or the pod's own ServiceAccount. */
  readonly kubeconfig?: string;
  /** Context of the kubeconfig. */
  readonly context?: string;
  /** Where the Secrets of cluster-scoped issuers lie; `countersign-keys` if left out. */
  readonly secretNamespace?: string;
  /** `host:port` of /healthz, /readyz and /metrics; port 0 takes a free one, which the log names. */
  readonly listen?: string;
  /** Lines on stderr. */
  readonly logFormat?: 'json' | 'pretty';
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Where replicas share the work by Leases; the pod's own namespace if left out, elsewhere none. */
  readonly leaseNamespace?: string;
  /** Prefixes of names that no leaf may have, besides `system:` and `kubeadm:`. */
  readonly reservedPrefixes?: readonly string[];
  /**
   * Seconds after its creation for which a CertificateSigningRequest is tried again after an ordinary
   * error; then it is Failed with the last message. 600 if left out. PodCertificateRequests are never
   * failed for it.
   */
  readonly maxRetrySeconds?: number;
  /** Seconds that one call of `check` or `sign` may take; then it counts as an ordinary error. 60. */
  readonly callSeconds?: number;
  /** Stops the process' work as SIGTERM does: what is in flight is finished first. */
  readonly signal?: AbortSignal;
}

/** Of a person's patience, and well before a pending request is removed (an hour after its approval). */
const DEFAULT_MAX_RETRY_SECONDS = 600;
/** As long as the API server itself waits for anything (--request-timeout). */
const DEFAULT_CALL_SECONDS = 60;

/**
 * Serves the requests of an authority's issuers until SIGTERM, SIGINT or `options.signal`: watches,
 * queues, retries, conditions, Events, metrics and Leases are those of our own components.
 *
 * @throws SignerError KUBE_CONFIG (`wait`) when there is no API server to talk to
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

/** None where the API server has none of them: CertificateSigningRequests are served all the same. */
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

/** The same as of our own subcommands, whose flags know what is left out. */
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
