// SPDX-License-Identifier: Apache-2.0
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import {
  TRUST,
  TRUST_KEY,
  TRUST_OPTED_IN,
  TRUST_STORE_KEY,
  TRUST_WITH_STORE,
  trustConfigMapName,
} from '#api/object/trust-config-map.ts';
import { SIGNER_TRUST } from '#api/signer/signer.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { GROUP } from '#api/signer/cluster-signer.ts';
import type { Manifest } from '../roles.ts';
import { only } from './held/only.ts';
import { sameBut, sameObjectBut, WRITTEN_BY_SERVER } from './held/unchanged.ts';
import { policy } from './policies.ts';

/**
 * Returns the policy for the ConfigMaps of `trust-distributor`. It may write those named after its
 * bundles if the namespace consents by its label, and an existing one consents by its annotation.
 * RBAC restricts the names, but sees neither label nor annotation.
 *
 * The ConfigMap of a namespace's Signers needs no label: RBAC names its namespaces.
 *
 * @param configMaps - their names, as `trustConfigMapName` returns them
 * @returns a policy and its binding
 */
export function trustConfigMapsPolicy(
  namespace: string,
  signers: readonly string[],
  configMaps: readonly string[],
): readonly Manifest[] {
  // A duplicate key is a CEL error, which rejects every write. Dots in names can give two bundles
  // the same name.
  const owners = new Map(
    signers
      .map((signer) => [trustConfigMapName(bundleName(signer, '')), signer] as const)
      .toReversed(),
  );
  const rows = [...new Set(configMaps)].flatMap((each) => {
    const owner = ownerOf(each, owners);
    return owner === undefined ? [] : [`'${each}': '${owner}'`];
  });
  const table = `{${[...rows, `'${SIGNER_TRUST}': '${SIGNER_TRUST}'`].join(', ')}}`;
  const may =
    "request.userInfo.username + ' may not write ConfigMap ' + request.namespace + '/' + request.name";
  return policy({
    name: 'countersign-trust-config-maps',
    rule: {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      resources: ['configmaps'],
    },
    conditions: [only(namespace, 'trust-distributor')],
    validations: [
      {
        expression: [
          `[object, oldObject].filter(o, o != null).all(o,`,
          `o.metadata.?annotations['${SIGNER_NAME}'].orValue('') == ${table}[?o.metadata.name].orValue('/'))`,
        ].join('\n'),
        messageExpression: `${may}\n+ ': it does not belong to this installation, or its annotation ${SIGNER_NAME} does not name the signer'`,
      },
      {
        expression: `object == null || ${IS_OF_SIGNERS}\n|| namespaceObject.metadata.?labels['${TRUST}'].orValue('') in ['${TRUST_OPTED_IN}', '${TRUST_WITH_STORE}']`,
        messageExpression: `${may}\n+ ': the namespace has no label ${TRUST}=${TRUST_OPTED_IN} or ${TRUST}=${TRUST_WITH_STORE}'`,
      },
      {
        expression: [
          `object == null || ${IS_OF_SIGNERS} || (object.?data.orValue({}).all(k, k == '${TRUST_KEY}')`,
          `&& object.?binaryData.orValue({}).all(k, k == '${TRUST_STORE_KEY}'))`,
        ].join('\n'),
        messageExpression: `${may}\n+ ' with more than the keys ${TRUST_KEY} and ${TRUST_STORE_KEY}'`,
      },
      {
        expression: `object == null || (${SAME})`,
        messageExpression: `${may}\n+ ' with another owner, finalizer, label or annotation than those of Countersign, or as immutable'`,
      },
      ofSigners(may),
    ],
  });
}

/** CEL: metadata is unchanged, except the owners of the Signers' ConfigMap. */
const SAME = [
  sameBut(
    'metadata',
    [
      `k in [${[...WRITTEN_BY_SERVER, 'labels', 'annotations'].map((each) => `'${each}'`).join(', ')}]`,
      `|| (k == 'ownerReferences' && object.metadata.name == '${SIGNER_TRUST}')`,
    ].join(' '),
  ),
  sameBut('metadata.labels', ['app.kubernetes.io/managed-by']),
  sameBut('metadata.annotations', [SIGNER_NAME]),
  sameObjectBut('data', 'binaryData'),
].join('\n&& ');

const IS_OF_SIGNERS = `object.metadata.name == '${SIGNER_TRUST}'`;

/** Returns the validations of the Signers' ConfigMap: its further content and its owners. */
function ofSigners(may: string): {
  readonly expression: string;
  readonly messageExpression: string;
} {
  return {
    expression: [
      `object == null || !(${IS_OF_SIGNERS})`,
      "|| (object.?data.orValue({}).all(k, k.endsWith('.crt')) && size(object.?binaryData.orValue({})) == 0",
      `&& object.metadata.?ownerReferences.orValue([]).all(o, o.kind == 'Signer' && o.apiVersion.startsWith('${GROUP}/')))`,
    ].join('\n'),
    messageExpression: `${may}\n+ ' with more than keys that end in .crt, or with an owner that is not a Signer'`,
  };
}

/**
 * Returns the longest matching signer. Bundles of `example.com/a.b` also have the prefix of
 * `example.com/a`.
 */
function ownerOf(configMap: string, owners: ReadonlyMap<string, string>): string | undefined {
  for (let end = configMap.length; end > 0; end = configMap.lastIndexOf('.', end - 2) + 1) {
    const owner = owners.get(configMap.slice(0, end));
    if (owner !== undefined) return owner;
  }
  return undefined;
}
