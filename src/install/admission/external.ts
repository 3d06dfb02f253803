// SPDX-License-Identifier: Apache-2.0
/** The policies for writes of ExternalClusterSigners and of their status. */
import { EXTERNAL_CLUSTER_SIGNERS } from '#api/external/names.ts';
import { VAULT_ENGINES } from '#api/signer/upstream-vault.ts';
import type { Manifest } from '../roles.ts';
import { authorizedOnSignerCel } from '../signer-access.ts';
import { userOf } from './held/only.ts';
import { NOT_ENDING, policy } from './policies.ts';

const { group, version, plural } = EXTERNAL_CLUSTER_SIGNERS;
const KIND = { apiGroups: [group], apiVersions: [version] };

/**
 * Returns all policies for ExternalClusterSigners.
 *
 * @param namespace - namespace of the components
 */
export function externalPolicies(namespace: string): readonly Manifest[] {
  return [...writersPolicy(), ...vaultsPolicy(), ...statusPolicy(namespace)];
}

/**
 * Returns the policy that requires `sign` and `attest` on the signer name, as for ClusterSigners:
 * the writer decides who gets certificates of this name, and which anchors they lead to.
 */
function writersPolicy(): readonly Manifest[] {
  const name = '(object == null ? oldObject : object).spec.signerName';
  return policy({
    name: 'countersign-external-cluster-signers',
    rule: { ...KIND, operations: ['CREATE', 'UPDATE', 'DELETE'], resources: [plural] },
    conditions: [NOT_ENDING],
    validations: (['sign', 'attest'] as const).map((verb) => ({
      expression: authorizedOnSignerCel(verb, name),
      messageExpression: [
        `request.userInfo.username + ' may not ${verb} for ' + ${name}`,
        "+ ', so it may not write or delete its ExternalClusterSigner; ask an administrator to grant it the verbs'",
        `+ ' sign and attest on signers.certificates.k8s.io ' + ${name}`,
      ].join('\n'),
    })),
  });
}

/**
 * Returns the policy that requires the verb `use` on the secrets engine. `external-signer` logs in
 * to Vault for the writer, who could otherwise use an engine that was meant for another signer, or
 * send the token to a server with another CA.
 */
function vaultsPolicy(): readonly Manifest[] {
  const { group: engines, plural: engine, verb } = VAULT_ENGINES;
  const vault = 'object.spec.authority.vault';
  const namespace = `(has(${vault}.namespace) ? ${vault}.namespace + '/' : '')`;
  const named = `${vault}.server + '/' + ${namespace} + ${vault}.mount`;
  return policy({
    name: 'countersign-external-cluster-signer-vaults',
    rule: { ...KIND, operations: ['CREATE', 'UPDATE'], resources: [plural] },
    conditions: [
      {
        name: 'another-vault',
        expression: `oldObject == null || oldObject.spec.authority.vault != ${vault}`,
      },
    ],
    validations: [
      {
        expression: [
          `authorizer.group('${engines}').resource('${engine}').name(${named})`,
          `.check('${verb}').allowed()`,
        ].join('\n'),
        messageExpression: [
          `request.userInfo.username + ' may not use the secrets engine ' + ${named}`,
          `+ '; ask an administrator to grant the verb ${verb} on ${engine}.${engines} for this name'`,
        ].join('\n'),
      },
    ],
  });
}

/**
 * Returns the policy that lets only `external-signer` write a status. A `retryAt` far ahead would
 * stop the signer.
 */
function statusPolicy(namespace: string): readonly Manifest[] {
  return policy({
    name: 'countersign-external-cluster-signer-status',
    rule: { ...KIND, operations: ['UPDATE'], resources: [`${plural}/status`] },
    validations: [
      {
        expression: `request.userInfo.username == '${userOf(namespace, 'external-signer')}'`,
        messageExpression:
          "request.userInfo.username + ' may not write the status of ExternalClusterSigner ' + object.metadata.name + '; only the external-signer component does'",
      },
    ],
  });
}
