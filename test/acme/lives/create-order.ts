// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../../cluster/cluster.ts';
import { apply } from '../../support/cluster/apply.ts';
import { requestFor } from '../order-journey.ts';

/**
 * Creates an Order of the signer `public` in the namespace `default`, as `acme` makes it of a
 * CertificateRequest.
 *
 * @param directory - where its key is made
 */
export async function createOrder(
  cluster: Cluster,
  directory: string,
  { name, names }: { readonly name: string; readonly names: readonly string[] },
): Promise<void> {
  const identifiers = names.map((value) => ({ type: 'dns' as const, value }));
  const { der } = requestFor(directory, { identifiers });
  await apply(cluster, {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'Order',
    metadata: { name, namespace: 'default' },
    spec: {
      signerRef: { kind: 'AcmeClusterSigner', name: 'public' },
      requestRef: { kind: 'CertificateRequest', name, uid: name },
      request: Buffer.from(der).toString('base64'),
      identifiers,
      attempt: 1,
    },
  });
}
