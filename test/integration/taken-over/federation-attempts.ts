// SPDX-License-Identifier: Apache-2.0
/** What `federation` tries that was taken over. */

const BUNDLES = '/apis/certificates.k8s.io/v1/clustertrustbundles';

/** The trust domain that it is named, and what is there of it. */
export const FEDERATED = 'partner.example';
const NAME = `federated.${FEDERATED}`;

/** Its ClusterTrustBundle. */
export function federatedBundle(trustBundle: string): Record<string, unknown> {
  const annotations = { 'countersign.dev/trust-domain': FEDERATED };
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { name: NAME, annotations },
    spec: { trustBundle },
  };
}

/** Sentence of SECURITY.md → what is tried. */
export const BY_FEDERATION = {
  'make a bundle of another name': {
    verb: 'create',
    path: BUNDLES,
    body: { metadata: { name: 'federated.other.example' } },
  },
  'make a bundle that names a signer': {
    verb: 'create',
    path: BUNDLES,
    body: {
      metadata: { name: 'example.com:workload:second' },
      spec: { signerName: 'example.com/workload' },
    },
  },
  'give a bundle an annotation of another controller': {
    verb: 'patch',
    path: `${BUNDLES}/${NAME}`,
    body: { metadata: { annotations: { 'reflector.example/copy-to': '*' } } },
  },
  'change or delete a bundle of a signer': {
    verb: 'delete',
    path: `${BUNDLES}/foreign.example:x:primary`,
  },
  'say that a bundle is of another trust domain': {
    verb: 'patch',
    path: `${BUNDLES}/${NAME}`,
    body: { metadata: { annotations: { 'countersign.dev/trust-domain': 'other.example' } } },
  },
} as const;
