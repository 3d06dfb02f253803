// SPDX-License-Identifier: Apache-2.0
import { bundleName } from '../../api/object/cluster-trust-bundle.ts';
import {
  TRUST,
  TRUST_KEY,
  TRUST_OPTED_IN,
  TRUST_STORE_KEY,
  TRUST_WITH_STORE,
  trustConfigMapName,
} from '../../api/object/trust-config-map.ts';
import { SIGNER_TRUST } from '../../api/signer/signer.ts';
import { SIGNER_NAME } from '../../api/signer/grant.ts';
import { GROUP } from '../../api/signer/cluster-signer.ts';
import type { Manifest } from '../roles.ts';
import { only } from './components.ts';
import { policy } from './policies.ts';

/**
 * `trust-distributor` writes ConfigMaps of its bundles' names, where the namespace consents by its label, and one that is
 * there consents by its annotation. RBAC knows the names; it knows neither of these.
 *
 * The ConfigMap of a namespace's Signers needs no label: RBAC names its namespaces.
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
        expression: [
          `[object, oldObject].filter(o, o != null).all(o,`,
          `o.metadata.?annotations['${SIGNER_NAME}'].orValue('') == ${table}[?o.metadata.name].orValue('/'))`,
        ].join('\n'),
        messageExpression: `${may}\n+ ': it is none of this installation, or its annotation ${SIGNER_NAME} does not name the signer'`,
      },
      {
        expression: `object == null || ${IS_OF_SIGNERS}\n|| namespaceObject.metadata.?labels['${TRUST}'].orValue('') in ['${TRUST_OPTED_IN}', '${TRUST_WITH_STORE}']`,
        messageExpression: `${may}\n+ ': the namespace has no label ${TRUST}=${TRUST_OPTED_IN} or ${TRUST}=${TRUST_WITH_STORE}'`,
      },
      {
        expression: [
          `object == null || ${IS_OF_SIGNERS} || (object.?data.orValue({}).all(k, k == '${TRUST_KEY}')`,
          `&& object.?binaryData.orValue({}).all(k, k == '${TRUST_STORE_KEY}')`,
          `&& ${sameOwners})`,
        ].join('\n'),
        messageExpression: `${may}\n+ ' with more than the keys ${TRUST_KEY} and ${TRUST_STORE_KEY}, or with another owner'`,
      },
      ofSigners(may),
    ],
  });
}

/**
 * `trust-distributor` changes `caBundle` of what its owner annotated, and nothing else of it. The API server evaluates no
 * policy on webhook configurations (`IsExemptAdmissionConfigurationResource` of k8s.io/apiserver), so this one guards
 * APIServices and CustomResourceDefinitions alone. RBAC knows the names, so the policy has none.
 */
export function whichCaBundlesAreWritten(namespace: string): readonly Manifest[] {
  const same = (path: string, none: string): string =>
    `object.${path}.orValue(${none}) == oldObject.${path}.orValue(${none})`;
  const metadata = [
    same('metadata.?labels', '{}'),
    same('metadata.?annotations', '{}'),
    same('metadata.?ownerReferences', '[]'),
    same('metadata.?finalizers', '[]'),
  ];
  const ofApiServices = [
    ...['group', 'version', 'groupPriorityMinimum', 'versionPriority'].map(
      (each) => `object.spec.${each} == oldObject.spec.${each}`,
    ),
    same('spec.?service', '{}'),
    same('spec.?insecureSkipTLSVerify', 'false'),
  ];
  const client = 'spec.?conversion.?webhook.?clientConfig';
  const ofDefinitions = [
    ...['group', 'names', 'scope', 'versions'].map(
      (each) => `object.spec.${each} == oldObject.spec.${each}`,
    ),
    same('spec.?preserveUnknownFields', 'false'),
    same('spec.?conversion.?strategy', "''"),
    same('spec.?conversion.?webhook.?conversionReviewVersions', '[]'),
    same(`${client}.?service`, '{}'),
    same(`${client}.?url`, "''"),
  ];
  const may =
    "request.userInfo.username + ' may not write ' + request.resource.resource + ' ' + request.name";
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
      {
        expression: `object != null && ${metadata.join('\n&& ')}`,
        messageExpression: `${may}\n+ ' but for its caBundle'`,
      },
      {
        expression: `request.resource.resource != 'apiservices'\n|| (${ofApiServices.join('\n&& ')})`,
        messageExpression: `${may}\n+ ' but for its caBundle'`,
      },
      {
        expression: `request.resource.resource != 'customresourcedefinitions'\n|| (${ofDefinitions.join('\n&& ')})`,
        messageExpression: `${may}\n+ ' but for its caBundle'`,
      },
    ],
  });
}

const IS_OF_SIGNERS = `object.metadata.name == '${SIGNER_TRUST}'`;

/** Of the ConfigMap of Signers: what else it may hold, and whose it may be. */
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
    messageExpression: `${may}\n+ ' with more than keys that end in .crt, or with an owner that is no Signer'`,
  };
}

/** Of `example.com/a` and `example.com/a.b` the longer one, whose bundles have both prefixes. */
function ownerOf(configMap: string, owners: ReadonlyMap<string, string>): string | undefined {
  for (let end = configMap.length; end > 0; end = configMap.lastIndexOf('.', end - 2) + 1) {
    const owner = owners.get(configMap.slice(0, end));
    if (owner !== undefined) return owner;
  }
  return undefined;
}
