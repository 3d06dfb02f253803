// SPDX-License-Identifier: Apache-2.0
/**
 * Restricts the routes that `acme-solver` creates: Ingresses and HTTPRoutes that lead only the path
 * of a token to `acme-responder`.
 */
import {
  CHALLENGE_ANNOTATION,
  CHALLENGE_SERVICE,
  CHALLENGE_UID_LABEL,
  ROUTE_LABELS,
  ROUTE_NAME_PREFIX,
} from '#api/acme/route-names.ts';
import type { Manifest } from '#install/roles.ts';
import { policy } from '../policies.ts';
import { only } from './only.ts';
import { sameMetadataBut } from './unchanged.ts';

/**
 * A path that a CA requests (RFC 8555 §8.3). A token has no character that a pattern of an Ingress
 * controller could contain.
 */
const PATH = "matches('^/[.]well-known/acme-challenge/[A-Za-z0-9_-]+$')";

/** Name of the variable with the labels and annotations that an administrator listed. */
export const LISTED = 'listed';

/** Returns CEL that requires an object to have only these fields. */
const hasOnly = (object: string, ...fields: readonly string[]): string =>
  `${object}.all(k, k in [${fields.map((each) => `'${each}'`).join(', ')}])`;

const INGRESS = [
  hasOnly('object.spec', 'ingressClassName', 'rules'),
  'object.spec.rules.size() == 1',
  hasOnly('object.spec.rules[0]', 'host', 'http'),
  hasOnly('object.spec.rules[0].http', 'paths'),
  'object.spec.rules[0].http.paths.size() == 1',
  `object.spec.rules[0].http.paths.all(p, ${hasOnly('p', 'backend', 'path', 'pathType')}`,
  `p.path.${PATH} && p.pathType in ['Exact', 'ImplementationSpecific']`,
  hasOnly('p.backend', 'service'),
  hasOnly('p.backend.service', 'name', 'port'),
  `p.backend.service.name == '${CHALLENGE_SERVICE}'`,
  `${hasOnly('p.backend.service.port', 'number')} && p.backend.service.port.number == 80)`,
].join('\n&& ');

// Fields of an HTTPRoute. The API server fills in groups, kinds and weights.
const HTTP_ROUTE = [
  hasOnly('object.spec', 'hostnames', 'parentRefs', 'rules'),
  'object.spec.?hostnames.orValue([]).size() <= 1',
  'object.spec.parentRefs.size() == 1',
  `object.spec.parentRefs.all(p, ${hasOnly('p', 'group', 'kind', 'name', 'namespace', 'sectionName')}`,
  "p.?group.orValue('gateway.networking.k8s.io') == 'gateway.networking.k8s.io'",
  "p.?kind.orValue('Gateway') == 'Gateway')",
  'object.spec.rules.size() == 1',
  hasOnly('object.spec.rules[0]', 'backendRefs', 'matches'),
  'object.spec.rules[0].matches.size() == 1',
  `object.spec.rules[0].matches.all(m, ${hasOnly('m', 'path')}`,
  `${hasOnly('m.path', 'type', 'value')} && m.path.type == 'Exact' && m.path.value.${PATH})`,
  'object.spec.rules[0].backendRefs.size() == 1',
  `object.spec.rules[0].backendRefs.all(b, ${hasOnly('b', 'group', 'kind', 'name', 'port', 'weight')}`,
  "b.?group.orValue('') == '' && b.?kind.orValue('Service') == 'Service'",
  `b.name == '${CHALLENGE_SERVICE}' && b.port == 80)`,
].join('\n&& ');

/**
 * Returns CEL that limits labels or annotations to those of Countersign, to listed ones with their
 * value, and to those that existed before. Ingress controllers write some.
 */
function heldEntries(field: 'annotations' | 'labels', ours: readonly string[]): string {
  const [now, before] = [
    `object.metadata.?${field}.orValue({})`,
    `(oldObject == null ? {} : oldObject.metadata.?${field}.orValue({}))`,
  ];
  const own = `k in [${ours.map((each) => `'${each}'`).join(', ')}]`;
  return [
    `${now}.all(k, ${own} || ${before}[?k] == optional.of(${now}[k])`,
    `|| k + '=' + ${now}[k] in variables.${LISTED})`,
    `&& ${before}.all(k, ${own} || k in ${now}`,
    `|| k + '=' + ${before}[k] in variables.${LISTED})`,
  ].join('\n');
}

/**
 * Returns the policies for routes. Labels and annotations control an Ingress controller, and `tls`
 * lends it the key of a Secret. A route therefore has only the fields that `acme-solver` writes,
 * and only those labels and annotations of its signer that an administrator listed. `acme-solver`
 * changes and deletes no other route.
 *
 * @param namespace - namespace of the components and of their routes
 * @param listed - `key=value` of labels and annotations that a route may have. They are checked, so
 * that none needs escaping in CEL.
 * @returns policies and their bindings
 */
export function routePolicies(namespace: string, listed: readonly string[]): readonly Manifest[] {
  const variable = {
    name: LISTED,
    expression: `[${listed.map((each) => `'${each}'`).join(', ')}]`,
  };
  return [
    ...routePolicy('countersign-acme-ingresses', 'networking.k8s.io/ingresses', INGRESS),
    ...routePolicy(
      'countersign-acme-http-routes',
      'gateway.networking.k8s.io/httproutes',
      HTTP_ROUTE,
    ),
  ];

  function routePolicy(name: string, resource: string, spec: string): readonly Manifest[] {
    const [group = '', plural = ''] = resource.split('/');
    const route = `' may not write ${plural} ' + request.namespace + '/' + request.name`;
    const may = `request.userInfo.username + ${route}`;
    return policy({
      name,
      rule: {
        apiGroups: [group],
        apiVersions: ['v1'],
        operations: ['CREATE', 'UPDATE', 'DELETE'],
        resources: [plural],
      },
      conditions: [only(namespace, 'acme-solver')],
      variables: [variable],
      validations: [
        {
          expression: [
            `request.namespace == '${namespace}'`,
            '&& [object, oldObject].filter(o, o != null).all(o,',
            `o.metadata.name == '${ROUTE_NAME_PREFIX}' + o.metadata.?labels['${CHALLENGE_UID_LABEL}'].orValue('/')`,
            ...Object.entries(ROUTE_LABELS).map(
              ([key, value]) => `&& o.metadata.?labels['${key}'].orValue('') == '${value}'`,
            ),
            ')',
          ].join('\n'),
          messageExpression: `${may}\n+ ': acme-solver did not create it for a Challenge'`,
        },
        {
          expression: `object == null || (${spec})`,
          messageExpression: `${may}\n+ ' with more than the path of a token, which leads to ${CHALLENGE_SERVICE}'`,
        },
        {
          expression: [
            `object == null || (${sameMetadataBut('labels', 'annotations')}`,
            `&& ${heldEntries('labels', [...Object.keys(ROUTE_LABELS), CHALLENGE_UID_LABEL])}`,
            `&& ${heldEntries('annotations', [CHALLENGE_ANNOTATION])})`,
          ].join('\n'),
          messageExpression: `${may}\n+ ' with a label or annotation that is not listed; countersign rbac --route-metadata prints the policy for more'`,
        },
      ],
    });
  }
}
