// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '#component/certificates-resources.ts';
import { runComponent } from '#app/run-component.ts';
import { SignerError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { authoritiesOf, type AuthorityList } from './authorities.ts';
import { createLibraryControllers } from './controller.ts';
import type { AuthorityType } from './define.ts';
import { componentOptions, limitsOf, type RunOptions } from './options.ts';
import { requireNode } from '#app/version.ts';

/**
 * Serves the requests of an authority's issuers until SIGTERM, SIGINT, or `options.signal`.
 * Watches, queues, retries, conditions, Events, metrics, and Leases are those of Countersign's own
 * components.
 *
 * @param authority - the definition, or several of one name with a kind each, such as an Issuer and
 *   a ClusterIssuer
 * @returns when the work is stopped and calls in flight have finished
 * @throws SignerError KUBE_CONFIG (`wait`) without a kubeconfig and a ServiceAccount, or USAGE
 *   (`fail`) for an invalid limit, and for definitions of different names or of one kind
 */
export async function run<Config, Configs extends readonly unknown[] = readonly Config[]>(
  authority: AuthorityType<Config> | AuthorityList<Configs>,
  options: RunOptions = {},
): Promise<void> {
  requireNode(process.versions.node);
  const authorities = authoritiesOf(authority);
  const limits = limitsOf(options);
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
        ...limits,
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
