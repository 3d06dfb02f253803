// SPDX-License-Identifier: Apache-2.0
import { CERT_MANAGER_GROUP, CERT_MANAGER_VERSION } from '#api/request/certificate-request.ts';
import type { Client } from '#kube/client/client.ts';
import { servedVersions } from '#kube/client/discovery.ts';

/**
 * Reports whether the API server serves CertificateRequests of cert-manager.
 * @throws KubeError of the API server
 */
export async function isCertManagerServed(client: Client): Promise<boolean> {
  const kind = { group: CERT_MANAGER_GROUP, plural: 'certificaterequests' };
  return (await servedVersions(client, kind, [CERT_MANAGER_VERSION])).length > 0;
}
