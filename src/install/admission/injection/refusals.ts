// SPDX-License-Identifier: Apache-2.0
/**
 * Checks of an annotated pod after all mutation, so that a pod without its requested volumes never
 * starts. They run last, so they also apply if another webhook removed something, or if nothing was
 * injected.
 */
import { policy } from '../policies.ts';
import type { Manifest } from '#install/roles.ts';
import { ANNOTATED, CREATED_PODS, OPTED_IN, variablesOf } from './mutation.ts';
import {
  FILES,
  INJECT,
  INJECTION,
  NAMESPACE_OPTED_IN,
  VOLUME_PREFIX,
  type InjectionProfile,
} from './profiles.ts';

const CONTAINERS = {
  name: 'containers',
  expression: 'object.spec.containers + object.spec.?initContainers.orValue([])',
};

/** Names of volumes whose files the kubelet refreshes. */
const REFRESHED = {
  name: 'refreshed',
  expression: [
    'object.spec.?volumes.orValue([]).filter(v, v.?projected.?sources.orValue([])',
    '.exists(s, has(s.podCertificate) || has(s.clusterTrustBundle))).map(v, v.name)',
  ].join(''),
};

/** Containers that mount one of these by a `subPath`. */
const BY_SUB_PATH = {
  name: 'bySubPath',
  expression: [
    'variables.containers.filter(c, c.?volumeMounts.orValue([]).exists(m, m.name in variables.refreshed',
    "&& (m.?subPath.orValue('') != '' || m.?subPathExpr.orValue('') != ''))).map(c, c.name)",
  ].join('\n'),
};

const SUB_PATH = {
  expression: 'variables.bySubPath.size() == 0',
  messageExpression:
    "'container ' + variables.bySubPath[0] + ' mounts certificates by subPath, and such a file is never renewed; mount the directory of the volume instead'",
};

const OWN = `v.name == '${VOLUME_PREFIX}' + p.name`;

/** The volume is the injected one. */
const AS_INJECTED = `${OWN}
  && v.?projected.?sources.orValue([]).size() == (p.trustBundle == 'true' ? 2 : 1)
  && v.projected.sources[0].?podCertificate.?signerName.orValue('') == p.signerName
  && v.projected.sources[0].podCertificate.?keyType.orValue('') == p.keyType
  && v.projected.sources[0].podCertificate.?maxExpirationSeconds.orValue(0) == int(p.seconds)
  && v.projected.sources[0].podCertificate.?credentialBundlePath.orValue('') == '${FILES.credentials}'
  && v.projected.sources[0].podCertificate.?keyPath.orValue('') == '${FILES.key}'
  && v.projected.sources[0].podCertificate.?certificateChainPath.orValue('') == '${FILES.chain}'
  && (p.trustBundle != 'true' || (
    v.projected.sources[1].?clusterTrustBundle.?signerName.orValue('') == p.signerName
    && v.projected.sources[1].clusterTrustBundle.?path.orValue('') == '${FILES.trustBundle}'))`;

const MOUNTED = `c.?volumeMounts.orValue([]).exists(m,
    m.mountPath == p.mountPath && m.name == '${VOLUME_PREFIX}' + p.name && m.?readOnly.orValue(false))`;

/** Faults, each with its message. */
const FAULTS: readonly Manifest[] = [
  {
    name: 'unknown',
    expression: 'variables.names.filter(n, !variables.profiles.exists(p, p.name == n))',
  },
  {
    name: 'withoutVolume',
    expression: `variables.wanted.filter(p, !object.spec.?volumes.orValue([]).exists(v, ${AS_INJECTED}))`,
  },
  {
    name: 'unmounted',
    expression: `variables.wanted.map(p, variables.containers.filter(c, !${MOUNTED}).map(c, c.name + ' at ' + p.mountPath)).flatten()`,
  },
  {
    name: 'covered',
    expression:
      "variables.wanted.map(p, variables.containers.filter(c, c.?volumeMounts.orValue([]).exists(m, m.mountPath.startsWith(p.mountPath + '/'))).map(c, c.name + ' mounts something below ' + p.mountPath)).flatten()",
  },
  {
    name: 'otherwise',
    expression:
      "variables.environment.map(e, variables.containers.filter(c, !c.?env.orValue([]).exists(m, m.name == e.name && m.?value.orValue('') == e.value)).map(c, c.name + ' has another value in ' + e.name)).flatten()",
  },
];

/** Returns the policy that rejects annotated pods without everything in their profiles. */
function refused(profiles: readonly InjectionProfile[]): readonly Manifest[] {
  const isThere = `object.spec.?volumes.orValue([]).exists(v, v.name == '${VOLUME_PREFIX}' + variables.withoutVolume[0].name)`;
  return policy({
    name: INJECTION,
    rule: CREATED_PODS,
    namespaceSelector: OPTED_IN,
    conditions: [ANNOTATED],
    variables: [...variablesOf(profiles), CONTAINERS, REFRESHED, BY_SUB_PATH, ...FAULTS],
    validations: [
      {
        expression: 'variables.unknown.size() == 0',
        messageExpression: `'annotation ${INJECT} names no profile of this cluster: ' + variables.unknown[0] + '; the profiles are ' + variables.profiles.map(p, p.name).join(', ')`,
      },
      {
        expression: 'variables.withoutVolume.size() == 0',
        messageExpression: [
          `'volume ${VOLUME_PREFIX}' + variables.withoutVolume[0].name`,
          `+ (${isThere}`,
          "? ' is there already and is not what the profile adds; give the volume of the pod another name'",
          `: ' was not added: MutatingAdmissionPolicy ${INJECTION} is not in force, or something took the volume away')`,
        ].join('\n'),
      },
      SUB_PATH,
      {
        expression: 'variables.unmounted.size() == 0',
        messageExpression:
          "'something else is mounted in container ' + variables.unmounted[0] + ', where the profile mounts its certificates; mount it elsewhere, or ask an administrator for a profile with another mountPath'",
      },
      {
        expression: 'variables.covered.size() == 0',
        messageExpression:
          "'container ' + variables.covered[0] + ', where the profile mounts its certificates read-only; mount it elsewhere'",
      },
      {
        expression: 'variables.otherwise.size() == 0',
        messageExpression:
          "'container ' + variables.otherwise[0] + ', which the profile sets; leave the variable out of the pod'",
      },
    ],
  });
}

/** Returns the policies that warn about annotations without effect. */
function warned(): readonly Manifest[] {
  return [
    ...policy({
      name: `${INJECTION}-namespaces`,
      rule: CREATED_PODS,
      namespaceSelector: {
        matchExpressions: [{ key: INJECT, operator: 'NotIn', values: [NAMESPACE_OPTED_IN] }],
      },
      conditions: [ANNOTATED],
      actions: ['Warn'],
      validations: [
        {
          expression: 'false',
          messageExpression: `'annotation ${INJECT} does nothing in namespace ' + request.namespace + '; ask an administrator to label the namespace ${INJECT}=${NAMESPACE_OPTED_IN}'`,
        },
      ],
    }),
    ...policy({
      name: `${INJECTION}-sub-paths`,
      rule: CREATED_PODS,
      namespaceSelector: OPTED_IN,
      actions: ['Warn'],
      variables: [CONTAINERS, REFRESHED, BY_SUB_PATH],
      validations: [SUB_PATH],
    }),
  ];
}

/**
 * Returns the policies besides the mutation.
 *
 * @returns policies and their bindings
 */
export function refusals(profiles: readonly InjectionProfile[]): readonly Manifest[] {
  return [...refused(profiles), ...warned()];
}
