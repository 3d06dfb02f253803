// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import { servedVersions } from '#kube/client/discovery.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { SignerError } from '#base/errors.ts';

const GROUP = 'certificates.k8s.io';

/**
 * Versions, newest first. 1.37 serves v1, and 1.36 serves v1beta1 behind a feature gate.
 */
const VERSIONS = ['v1', 'v1beta1'] as const;

/** A kind of the API group that not every API server serves. */
export type CertificatesPlural = 'clustertrustbundles' | 'podcertificaterequests';

/**
 * Returns one kind of the API group in each version that this API server serves, newest first.
 * @throws SignerError KUBE_NOT_FOUND (`wait`) if it serves none
 */
export async function certificatesResources(
  client: Client,
  plural: CertificatesPlural,
): Promise<readonly [Resource, ...Resource[]]> {
  const [first, ...rest] = await served(client, plural);
  if (first !== undefined) return [first, ...rest];
  throw new SignerError({
    code: 'KUBE_NOT_FOUND',
    disposition: 'wait',
    message: `this API server serves no ${plural}.${GROUP}; Kubernetes 1.37 does by default, 1.36 with --runtime-config=${GROUP}/v1beta1=true and the feature gates PodCertificateRequest, ClusterTrustBundle and ClusterTrustBundleProjection`,
  });
}

/**
 * Returns the newest of {@link certificatesResources}, or undefined if the API server serves none.
 */
export async function certificatesResourceIfServed(
  client: Client,
  plural: CertificatesPlural,
): Promise<Resource | undefined> {
  const [newest] = await served(client, plural);
  return newest;
}

async function served(client: Client, plural: CertificatesPlural): Promise<readonly Resource[]> {
  const versions = await servedVersions(client, { group: GROUP, plural }, VERSIONS);
  return versions.map((version) => resource({ group: GROUP, version, plural }));
}
