// SPDX-License-Identifier: Apache-2.0
import { policy } from './policies.ts';
import type { Manifest } from '../roles.ts';

/**
 * Each component writes its own Leases only. Roles cannot express that: Leases of members are named after
 * pods, and `create` has no resource name. Otherwise a compromised component could delay the others.
 *
 * @param namespace - where the components run, and their Leases are
 */
export function whoWritesLeases(namespace: string): readonly Manifest[] {
  const prefix = `system:serviceaccount:${namespace}:`;
  const rule = { apiGroups: ['coordination.k8s.io'], apiVersions: ['v1'], resources: ['leases'] };
  const here = { name: 'our-namespace', expression: `request.namespace == '${namespace}'` };
  const label = (key: string): string => `object.metadata.labels['app.kubernetes.io/${key}']`;
  const has = (key: string): string =>
    `has(object.metadata.labels) && 'app.kubernetes.io/${key}' in object.metadata.labels`;
  return [
    ...policy({
      name: 'countersign-leases',
      rule: { ...rule, operations: ['CREATE', 'UPDATE'] },
      conditions: [
        here,
        {
          name: 'our-leases',
          expression: [
            "object.metadata.name.startsWith('countersign-')",
            `|| (${has('name')} && ${label('name')} == 'countersign')`,
          ].join('\n'),
        },
      ],
      validations: [
        {
          expression: [
            has('component'),
            `&& request.userInfo.username == '${prefix}countersign-' + ${label('component')}`,
            `&& object.metadata.name.startsWith('countersign-' + ${label('component')})`,
          ].join('\n'),
          messageExpression: [
            "request.userInfo.username + ' may not write Lease ' + object.metadata.name",
            "+ ': by it a component shares its work among its replicas, and only that component does'",
          ].join('\n'),
        },
      ],
    }),
    ...policy({
      name: 'countersign-leases-deleted',
      rule: { ...rule, operations: ['DELETE'] },
      // People may delete Leases, and the namespace controller must.
      conditions: [
        here,
        {
          name: 'our-components',
          expression: `request.userInfo.username.startsWith('${prefix}countersign-')`,
        },
      ],
      validations: [
        {
          expression: `oldObject.metadata.name.startsWith(request.userInfo.username.replace('${prefix}', ''))`,
          messageExpression:
            "request.userInfo.username + ' may not delete Lease ' + oldObject.metadata.name + ' of another component'",
        },
      ],
    }),
  ];
}
