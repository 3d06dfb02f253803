// SPDX-License-Identifier: Apache-2.0
import { LABEL_COMPONENT, LABEL_NAME } from '#kube/resource/labels.ts';
import { PROCESSES } from '../component-list.ts';
import type { Manifest } from '../roles.ts';
import { userOf } from './held/only.ts';
import { sameBut, sameMetadataBut, sameObjectBut } from './held/unchanged.ts';
import { policy } from './policies.ts';

/**
 * Components of which one replica leads, by a Lease with a dot behind the component's name. Every
 * other component has a Lease for each replica, with a hyphen there. So `acme` has no Lease that
 * `acme-solver` could have. The operator of cert-manager has a namespace of its own.
 */
const LEADING = PROCESSES.filter(
  ({ name, leads }) => leads === true && name !== 'cert-manager-operator',
)
  .map(({ name }) => name)
  .sort();

const LEASES = { apiGroups: ['coordination.k8s.io'], apiVersions: ['v1'], resources: ['leases'] };

/** Returns CEL that requires a Lease to have a name of this component. */
function leaseNameCel(name: string, component: string): string {
  return [
    `${name}.startsWith('countersign-' + ${component}`,
    `+ (${component} in [${LEADING.map((each) => `'${each}'`).join(', ')}] ? '.' : '-'))`,
  ].join('\n');
}

/**
 * Returns the policies that let each component write only its own Leases. Roles cannot express
 * that: Leases of members are named after pods, and `create` has no resource name. A compromised
 * component could otherwise delay the others.
 *
 * @param namespace - namespace of the components and of their Leases
 */
export function leasesPolicies(namespace: string): readonly Manifest[] {
  const account = userOf(namespace, '');
  const here = { name: 'our-namespace', expression: `request.namespace == '${namespace}'` };
  const isManaged = `request.userInfo.username.startsWith('${account}')`;
  const label = (object: string, key: string): string =>
    `${object}.metadata.?labels['app.kubernetes.io/${key}'].orValue('')`;
  const component = label('object', 'component');
  return [
    ...policy({
      name: 'countersign-leases',
      rule: { ...LEASES, operations: ['CREATE', 'UPDATE'] },
      conditions: [
        here,
        {
          name: 'our-leases',
          expression: [
            "object.metadata.name.startsWith('countersign-')",
            `|| ${label('object', 'name')} == 'countersign'`,
            `|| ${isManaged}`,
          ].join('\n'),
        },
      ],
      validations: [
        {
          expression: [
            `request.userInfo.username == '${account}' + ${component}`,
            `&& ${leaseNameCel('object.metadata.name', component)}`,
            `&& (oldObject == null || ${label('oldObject', 'component')} in ['', ${component}])`,
          ].join('\n'),
          messageExpression: [
            "request.userInfo.username + ' may not write Lease ' + object.metadata.name",
            "+ ': only its component does, which shares its work among its replicas by it'",
          ].join('\n'),
        },
        {
          expression: [
            sameMetadataBut('labels', 'annotations'),
            `&& ${sameBut('metadata.labels', OWN_LABELS)}`,
            `&& ${sameBut('metadata.annotations', "k.startsWith('countersign.dev/')")}`,
            `&& ${sameObjectBut('spec')}`,
          ].join('\n'),
          messageExpression:
            "request.userInfo.username + ' may not write Lease ' + object.metadata.name + ' with other metadata than its own labels and annotations'",
        },
      ],
    }),
    ...deletedLeasesPolicy(namespace),
  ];
}

/** Returns the policy for deletions. Users may delete Leases, and the namespace controller must. */
function deletedLeasesPolicy(namespace: string): readonly Manifest[] {
  const account = userOf(namespace, '');
  return policy({
    name: 'countersign-leases-deleted',
    rule: { ...LEASES, operations: ['DELETE'] },
    conditions: [
      { name: 'our-namespace', expression: `request.namespace == '${namespace}'` },
      {
        name: 'our-components',
        expression: `request.userInfo.username.startsWith('${account}')`,
      },
    ],
    validations: [
      {
        expression: leaseNameCel(
          'oldObject.metadata.name',
          `request.userInfo.username.replace('${account}', '')`,
        ),
        messageExpression:
          "request.userInfo.username + ' may not delete Lease ' + oldObject.metadata.name + ' of another component'",
      },
    ],
  });
}

const OWN_LABELS = [LABEL_COMPONENT, LABEL_NAME, 'countersign.dev/secret-namespace'];
