// SPDX-License-Identifier: Apache-2.0
/**
 * The policies for objects with a `caBundle`. A changed server would receive requests of the API
 * server, which would trust its answers.
 */
import { SIGNER_NAME } from '#api/signer/grant.ts';
import type { Manifest } from '#install/roles.ts';
import { policy } from '../policies.ts';
import { only } from './only.ts';
import { sameBut, sameMetadataBut, sameObjectBut } from './unchanged.ts';

/** CEL: an APIService, or a CustomResourceDefinition, is unchanged except its `caBundle`. */
const UNCHANGED = [sameMetadataBut(), `&& ${sameObjectBut('spec', 'status')}`].join('\n');
const SAME_API_SERVICE = sameBut('spec', ['caBundle']);
const SAME_DEFINITION = [
  sameBut('spec', ['conversion']),
  sameBut('spec.conversion', ['webhook']),
  sameBut('spec.conversion.webhook', ['clientConfig']),
  sameBut('spec.conversion.webhook.clientConfig', ['caBundle']),
].join('\n&& ');

/**
 * Returns the policy that lets `authority` write only the CA of the ledger's APIService.
 *
 * @param namespace - namespace of the components
 */
export function authorityApiServicePolicy(namespace: string): readonly Manifest[] {
  return policy({
    name: 'countersign-authority-api-service',
    rule: {
      apiGroups: ['apiregistration.k8s.io'],
      apiVersions: ['v1'],
      operations: ['UPDATE'],
      resources: ['apiservices'],
    },
    conditions: [only(namespace, 'authority')],
    validations: [
      {
        expression: `${UNCHANGED}\n&& ${SAME_API_SERVICE}`,
        messageExpression:
          "request.userInfo.username + ' may not change anything but spec.caBundle of APIService ' + object.metadata.name",
      },
    ],
  });
}

/**
 * Returns the policy that lets `trust-distributor` change only the `caBundle` of objects that their
 * owner annotated. The API server evaluates no policy on webhook configurations
 * (`IsExemptAdmissionConfigurationResource` of k8s.io/apiserver), so this one guards only
 * APIServices and CustomResourceDefinitions. RBAC restricts the names, so the policy has none.
 *
 * @param namespace - namespace of the components
 */
export function trustCaBundlesPolicy(namespace: string): readonly Manifest[] {
  const may =
    "request.userInfo.username + ' may not write ' + request.resource.resource + ' ' + request.name";
  const butForIt = `${may}\n+ ' except its caBundle'`;
  return policy({
    name: 'countersign-trust-ca-bundles',
    rule: {
      apiGroups: ['apiregistration.k8s.io', 'apiextensions.k8s.io'],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      resources: ['apiservices', 'customresourcedefinitions'],
    },
    conditions: [only(namespace, 'trust-distributor')],
    validations: [
      {
        expression: `oldObject != null\n&& oldObject.metadata.?annotations['${SIGNER_NAME}'].orValue('') != ''`,
        messageExpression: `${may}\n+ ': its annotation ${SIGNER_NAME} names no signer'`,
      },
      { expression: `object != null && ${UNCHANGED}`, messageExpression: butForIt },
      {
        expression: `request.resource.resource != 'apiservices'\n|| (${SAME_API_SERVICE})`,
        messageExpression: butForIt,
      },
      {
        expression: `request.resource.resource != 'customresourcedefinitions'\n|| (${SAME_DEFINITION})`,
        messageExpression: butForIt,
      },
    ],
  });
}
