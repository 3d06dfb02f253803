// SPDX-License-Identifier: Apache-2.0
import type { Manifest } from '#install/roles.ts';
import { only } from './only.ts';
import { policy } from '../policies.ts';
import { sameBut, sameMetadataBut, sameObjectBut } from './unchanged.ts';

/**
 * Returns the policies for objects that the manifests create empty and that `ledger` and `notifier`
 * fill. RBAC restricts their names. The policies restrict their content: no label or annotation by
 * which another controller copies the key of the log, and no `immutable`.
 *
 * @param namespace - namespace of the components
 * @returns policies and their bindings
 */
export function ownObjectPolicies(namespace: string): readonly Manifest[] {
  const core = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'] };
  const unchanged = [sameMetadataBut(), `&& ${sameObjectBut('data')}`].join('\n');
  const refusal = (what: string): string =>
    `request.userInfo.username + ' may change only ${what} of ' + request.resource.resource + ' ' + request.name`;
  return [
    ...policy({
      name: 'countersign-ledger-objects',
      rule: { ...core, resources: ['configmaps', 'secrets'] },
      conditions: [only(namespace, 'ledger')],
      validations: [
        {
          expression: `oldObject != null && ${unchanged}`,
          messageExpression: refusal('the data'),
        },
        {
          // An administrator, not `ledger`, moves the previous signing key.
          expression: `request.resource.resource != 'secrets'\n|| (${sameBut('data', ['log.key'])})`,
          messageExpression: refusal('log.key'),
        },
      ],
    }),
    ...policy({
      name: 'countersign-notifier-objects',
      rule: { ...core, resources: ['configmaps'] },
      conditions: [only(namespace, 'notifier')],
      validations: [
        {
          expression: [
            `oldObject != null && ${unchanged}`,
            `&& ${sameBut('data', "k.startsWith('target.')")}`,
          ].join('\n'),
          messageExpression: refusal('cursors, keys that begin with target.,'),
        },
      ],
    }),
  ];
}
