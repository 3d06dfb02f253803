// SPDX-License-Identifier: Apache-2.0
import { TRUST_DOMAIN } from '../../api/object/federated-bundle.ts';
import type { Manifest } from '../roles.ts';
import { only } from './components.ts';
import { policy } from './policies.ts';

/**
 * `federation` writes ClusterTrustBundles of foreign trust domains: its role names them. RBAC knows neither what is in one nor
 * whose it was: each names no signer and the trust domain of its name.
 *
 * @returns a policy and its binding
 */
export function whichFederatedBundlesAreWritten(namespace: string): readonly Manifest[] {
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
    ],
  });
}
