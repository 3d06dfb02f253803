// SPDX-License-Identifier: Apache-2.0
import { bundleName } from '../../api/object/cluster-trust-bundle.ts';
import {
  TRUST,
  TRUST_KEY,
  TRUST_OPTED_IN,
  trustConfigMapName,
} from '../../api/object/trust-config-map.ts';
import { SIGNER_NAME } from '../../api/signer/grant.ts';
import type { Manifest } from '../roles.ts';
import { only } from './components.ts';
import { policy } from './policies.ts';

/**
 * `trust-distributor` writes ConfigMaps of its bundles' names, where the namespace consents by its label, and one that is
 * there consents by its annotation. RBAC knows the names; it knows neither of these.
 *
 * @param configMaps - their names, as `trustConfigMapName` makes them
 * @returns a policy and its binding
 */
export function whichTrustConfigMapsAreWritten(
  namespace: string,
  signers: readonly string[],
  configMaps: readonly string[],
): readonly Manifest[] {
  // A key twice is an error of CEL, which refuses every write: dots in names can make one of two bundles.
  const rows = [...new Set(configMaps)].flatMap((each) => {
    const owner = ownerOf(each, signers);
    return owner === undefined ? [] : [`'${each}': '${owner}'`];
  });
  const table = `{${rows.join(', ')}}`;
  const may =
    "request.userInfo.username + ' may not write ConfigMap ' + request.namespace + '/' + request.name";
  const sameOwners =
    'object.metadata.?ownerReferences.orValue([]) == (oldObject == null ? [] : oldObject.metadata.?ownerReferences.orValue([]))';
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
        expression:
          rows.length === 0
            ? 'false'
            : [
                `[object, oldObject].filter(o, o != null).all(o, o.metadata.name in ${table}`,
                `&& o.metadata.?annotations['${SIGNER_NAME}'].orValue('') == ${table}[o.metadata.name])`,
              ].join('\n'),
        messageExpression: `${may}\n+ ': it is none of this installation, or its annotation ${SIGNER_NAME} does not name the signer'`,
      },
      {
        expression: `object == null\n|| namespaceObject.metadata.?labels['${TRUST}'].orValue('') == '${TRUST_OPTED_IN}'`,
        messageExpression: `${may}\n+ ': the namespace has no label ${TRUST}=${TRUST_OPTED_IN}'`,
      },
      {
        expression: [
          `object == null || (object.?data.orValue({}).all(k, k == '${TRUST_KEY}')`,
          '&& object.?binaryData.orValue({}).size() == 0',
          `&& ${sameOwners})`,
        ].join('\n'),
        messageExpression: `${may}\n+ ' with more than the key ${TRUST_KEY}, or with another owner'`,
      },
    ],
  });
}

/** Of `example.com/a` and `example.com/a.b` the longer one, whose bundles have both prefixes. */
function ownerOf(configMap: string, signers: readonly string[]): string | undefined {
  return signers
    .filter((signer) => configMap.startsWith(trustConfigMapName(bundleName(signer, ''))))
    .toSorted((a, b) => b.length - a.length)[0];
}
