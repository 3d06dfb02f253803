// SPDX-License-Identifier: Apache-2.0
/** The MutatingAdmissionPolicy. It adds each entry once and never changes existing ones. */
import { LABELS } from '../../names.ts';
import type { Manifest } from '#install/roles.ts';
import { matchConstraints } from '../policies.ts';
import {
  FILES,
  INJECT,
  INJECTION,
  NAMESPACE_OPTED_IN,
  VOLUME_PREFIX,
  environmentRow,
  profileRow,
  type InjectionProfile,
} from './profiles.ts';

/** New pods. No other operation can add a volume to a pod. */
export const CREATED_PODS = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['pods'],
} as const;

/** Namespaces that opted in. */
export const OPTED_IN = { matchLabels: { [INJECT]: NAMESPACE_OPTED_IN } } as const;

/** Annotated pods, except mirror pods, which must equal their static pod. */
export const ANNOTATED = {
  name: 'annotated',
  expression: [
    `object.metadata.?annotations['${INJECT}'].orValue('') != ''`,
    "&& !('kubernetes.io/config.mirror' in object.metadata.annotations)",
  ].join('\n'),
} as const;

/**
 * Returns the variables of the policy: the `wanted` profiles of the annotation, and their
 * `environment`.
 */
export function variablesOf(profiles: readonly InjectionProfile[]): readonly Manifest[] {
  const rows = profiles.map(profileRow);
  const environment = profiles.flatMap((profile) =>
    profile.environment.map((each) => environmentRow(profile.name, each)),
  );
  return [
    { name: 'profiles', expression: `[${rows.join('')}]` },
    {
      name: 'names',
      expression: `object.metadata.annotations['${INJECT}'].split(',').map(n, n.trim())`,
    },
    {
      name: 'wanted',
      expression: 'variables.profiles.filter(p, p.name in variables.names)',
    },
    {
      name: 'environment',
      expression: `[${environment.join('')}].filter(e, e.profile in variables.names)`,
    },
  ];
}

const SOURCES = 'Object.spec.volumes.projected.sources';

/** A volume for each profile whose name is free. */
const VOLUMES = `(has(object.spec.volumes) ? [] : [JSONPatch{op: 'add', path: '/spec/volumes', value: []}])
+ variables.wanted.filter(p, !object.spec.?volumes.orValue([]).exists(v, v.name == '${VOLUME_PREFIX}' + p.name)).map(p,
  JSONPatch{op: 'add', path: '/spec/volumes/-', value: Object.spec.volumes{
    name: '${VOLUME_PREFIX}' + p.name,
    projected: Object.spec.volumes.projected{sources: [
      ${SOURCES}{podCertificate: ${SOURCES}.podCertificate{
        signerName: p.signerName,
        keyType: p.keyType,
        maxExpirationSeconds: int(p.seconds),
        credentialBundlePath: '${FILES.credentials}',
        keyPath: '${FILES.key}',
        certificateChainPath: '${FILES.chain}'}}
    ] + (p.trustBundle != 'true' ? [] : [
      ${SOURCES}{clusterTrustBundle: ${SOURCES}.clusterTrustBundle{
        signerName: p.signerName,
        labelSelector: ${SOURCES}.clusterTrustBundle.labelSelector{},
        path: '${FILES.trustBundle}'}}
    ])}}})`;

/**
 * Returns CEL that adds a mount for each profile whose path is free, in each container of the list.
 */
function mountsIn(list: string): string {
  const path = `'/spec/${list}/' + string(i) + '/volumeMounts`;
  return `+ object.spec.?${list}.orValue([]).transformList(i, c,
  (has(c.volumeMounts) ? [] : [JSONPatch{op: 'add', path: ${path}', value: []}])
  + variables.wanted.filter(p, !c.?volumeMounts.orValue([]).exists(m, m.mountPath == p.mountPath)).map(p,
    JSONPatch{op: 'add', path: ${path}/-', value: Object.spec.${list}.volumeMounts{
      name: '${VOLUME_PREFIX}' + p.name, mountPath: p.mountPath, readOnly: true}})).flatten()`;
}

/**
 * Returns CEL that adds the variables whose names are free. They precede the container's own, which
 * may then refer to them.
 */
function environmentIn(list: string): string {
  const path = `'/spec/${list}/' + string(i) + '/env`;
  return `+ object.spec.?${list}.orValue([]).transformList(i, c,
  (has(c.env) ? [] : [JSONPatch{op: 'add', path: ${path}', value: []}])
  + variables.environment.filter(e, !c.?env.orValue([]).exists(m, m.name == e.name)).map(e,
    JSONPatch{op: 'add', path: ${path}/0', value: Object.spec.${list}.env{name: e.name, value: e.value}})).flatten()`;
}

/**
 * Injects into annotated pods of opted-in namespaces what their profiles name. It reads only the
 * annotation of the pod, and writes nothing that the pod's author could not have written.
 *
 * @returns the policy and its binding. admissionregistration.k8s.io/v1 has the kind from Kubernetes
 * 1.36 on.
 */
export function mutation(profiles: readonly InjectionProfile[]): readonly Manifest[] {
  const lists = ['containers', 'initContainers'];
  const metadata = { name: INJECTION, labels: LABELS };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        // Run again, because a webhook may add a container later.
        reinvocationPolicy: 'IfNeeded',
        matchConstraints: matchConstraints([CREATED_PODS], OPTED_IN),
        matchConditions: [ANNOTATED],
        variables: variablesOf(profiles),
        mutations: [
          {
            patchType: 'JSONPatch',
            jsonPatch: {
              expression: [VOLUMES, ...lists.map(mountsIn), ...lists.map(environmentIn)].join('\n'),
            },
          },
        ],
      },
    },
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: INJECTION },
    },
  ];
}
