// SPDX-License-Identifier: Apache-2.0
/** Reads of stored requests, bypassing the cache. */
import type { KubeObject } from '#api/object/object.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';

/** A request of any kind, with the certificate in its status. */
export interface DeliverableRequest extends KubeObject {
  readonly status?: {
    /** PEM of a PodCertificateRequest, the leaf first. */
    readonly certificateChain?: string;
    /** PEM in base64 of the other kinds, the leaf first. */
    readonly certificate?: string;
  };
}

/**
 * Reads the request at this path. Returns undefined if there is none.
 *
 * @throws KubeError
 */
export function readStored<T extends KubeObject>(
  client: Client,
  path: string,
): Promise<T | undefined> {
  return client.request<T>({ method: 'GET', path }).catch(ignoreNotFound);
}

/** Returns the chain in the status of a request, as PEM. */
export function deliveredChain({ status }: DeliverableRequest): string | undefined {
  if (status?.certificateChain !== undefined) return status.certificateChain;
  return status?.certificate === undefined
    ? undefined
    : Buffer.from(status.certificate, 'base64').toString('latin1');
}
