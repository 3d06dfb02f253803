// SPDX-License-Identifier: Apache-2.0
/**
 * What others do to the objects of an installation: a patch for each kind, and what of it must go.
 */
import type { Client } from '#kube/client/client.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';

/** A merge patch (RFC 7386) of what is ours. */
const CHANGES: Readonly<Record<string, object>> = {
  CustomResourceDefinition: { spec: { names: { categories: ['others'] } } },
  Role: { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] },
  ClusterRole: { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
  RoleBinding: { subjects: [{ kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' }] },
  ClusterRoleBinding: {
    subjects: [{ kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' }],
  },
  ValidatingAdmissionPolicy: {
    spec: { failurePolicy: 'Ignore', validations: [{ expression: 'true' }] },
  },
  ValidatingAdmissionPolicyBinding: { spec: { validationActions: ['Audit'] } },
  PriorityLevelConfiguration: { spec: { limited: { nominalConcurrencyShares: 1 } } },
  FlowSchema: { spec: { matchingPrecedence: 9999 } },
  Deployment: { spec: { replicas: 0, template: { spec: { hostNetwork: true } } } },
  Service: { spec: { selector: { 'app.kubernetes.io/component': 'nobody' } } },
  PodDisruptionBudget: { spec: { maxUnavailable: 2 } },
  MutatingWebhookConfiguration: { webhooks: [] },
  ValidatingWebhookConfiguration: { webhooks: [] },
  ClusterSigner: { spec: { profile: { maxDuration: '24h' } } },
};

/** A JSON patch of what others add where the whole is ours, besides the merge patch. */
function additionsTo(object: ManagedObject, mark: string): readonly object[] {
  if (object.kind !== 'Deployment') return [];
  const volume = { name: `evil-${mark}`, emptyDir: {} };
  const some = /"volumes":/.test(JSON.stringify(object));
  const evil = { image: 'evil.example/evil' };
  const spec = '/spec/template/spec';
  return [
    { op: 'add', path: `${spec}/containers/-`, value: { ...evil, name: `evil-${mark}` } },
    some
      ? { op: 'add', path: `${spec}/volumes/-`, value: volume }
      : { op: 'add', path: `${spec}/volumes`, value: [volume] },
    { op: 'add', path: `${spec}/initContainers`, value: [{ ...evil, name: `first-${mark}` }] },
  ];
}

/** Whether it is put back when it is changed. */
export function isKept(object: ManagedObject): boolean {
  return ruleOf(object).care === 'merged';
}

/**
 * Changes an object as somebody else: what is ours, our label, and something of their own that may
 * stay.
 *
 * @param mark - value of the annotation that may stay
 */
export async function disturb(client: Client, object: ManagedObject, mark: string): Promise<void> {
  const path = ruleOf(object).resource.object(object.metadata);
  const metadata = {
    labels: { 'app.kubernetes.io/name': 'other', 'operator.countersign.dev/managed-by': null },
    annotations: { [`example.com/${mark}`]: mark },
  };
  const merge = { contentType: 'application/merge-patch+json' };
  await client.request({
    method: 'PATCH',
    path,
    ...merge,
    query: { fieldManager: 'somebody-else' },
    body: { metadata, ...CHANGES[object.kind] },
  });
  const additions = additionsTo(object, mark);
  if (additions.length === 0) return;
  await client.request({
    method: 'PATCH',
    path,
    contentType: 'application/json-patch+json',
    body: additions,
    query: { fieldManager: 'somebody-else' },
  });
}
