// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';

/** An AcmeSigner, or with a signer name an AcmeClusterSigner, as the API server returns it. */
export function acmeObject(
  acme: Readonly<Record<string, unknown>> = {},
  signerName?: string,
): KubeObject {
  const isNamespaced = signerName === undefined;
  return {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: isNamespaced ? 'AcmeSigner' : 'AcmeClusterSigner',
    metadata: {
      name: 'web',
      ...(isNamespaced ? { namespace: 'team-a' } : {}),
      uid: 'u1',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-11-22T10:00:00Z',
    },
    spec: {
      ...(isNamespaced ? {} : { signerName }),
      acme: {
        server: 'https://acme.example/directory',
        accountKey: { secret: { name: 'account' } },
        solvers: [{ name: 'dns', rfc2136: { server: '192.0.2.1:53' } }],
        ...acme,
      },
    },
  };
}
