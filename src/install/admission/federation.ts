// SPDX-License-Identifier: Apache-2.0
import { FETCHED_AT, SPIFFE_SEQUENCE, TRUST_DOMAIN } from '#api/object/federated-bundle.ts';
import { SECRET_NAMESPACE } from '#api/signer/bundle-annotations.ts';
import type { Manifest } from '../roles.ts';
import { only } from './held/only.ts';
import { sameBut, sameMetadataBut, sameObjectBut } from './held/unchanged.ts';
import { policy } from './policies.ts';

const ANNOTATIONS = [FETCHED_AT, SECRET_NAMESPACE, SPIFFE_SEQUENCE, TRUST_DOMAIN];

/**
 * Returns the policy for the ClusterTrustBundles that `federation` writes for foreign trust
 * domains. Its role names them. RBAC sees neither their content nor their former owner, so the
 * policy requires each to name no signer, and the trust domain of its name.
 *
 * @returns a policy and its binding
 */
export function federatedBundlesPolicy(namespace: string): readonly Manifest[] {
  const may = "request.userInfo.username + ' may not write ClusterTrustBundle ' + request.name";
  return policy({
    name: 'countersign-federated-bundles',
    rule: {
      apiGroups: ['certificates.k8s.io'],
      apiVersions: ['v1', 'v1beta1'],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      resources: ['clustertrustbundles'],
    },
    conditions: [only(namespace, 'federation')],
    validations: [
      {
        expression: [
          "[object, oldObject].filter(o, o != null).all(o, o.spec.?signerName.orValue('') == ''",
          `&& o.metadata.name == 'federated.' + o.metadata.?annotations['${TRUST_DOMAIN}'].orValue(''))`,
        ].join('\n'),
        messageExpression: `${may}\n+ ': it names a signer, or its annotation ${TRUST_DOMAIN} is not the trust domain of its name'`,
      },
      {
        expression: [
          `object == null || (${sameMetadataBut('labels', 'annotations')}`,
          `&& ${sameBut('metadata.labels', ['app.kubernetes.io/managed-by'])}`,
          `&& ${sameBut('metadata.annotations', ANNOTATIONS)}`,
          `&& ${sameObjectBut('spec')})`,
        ].join('\n'),
        messageExpression: `${may}\n+ ' with other metadata than its own labels and annotations'`,
      },
    ],
  });
}
