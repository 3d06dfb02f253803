// SPDX-License-Identifier: Apache-2.0
import type { ClusterNode } from '../../api/object/node.ts';
import type { Client } from '../../kube/client/client.ts';
import { missingPermissions, type MissingPermission } from '../../kube/client/access-review.ts';
import { servedVersions } from '../../kube/client/discovery.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { StoredObject } from '../../kube/resource/object.ts';
import type { KubernetesFacts, Kubelet, Webhook } from '../facts.ts';
import type { Seen } from '../finding.ts';
import { seeAll } from './see.ts';

const CERTIFICATES = 'certificates.k8s.io';
const VERSIONS = ['v1', 'v1beta1'];

/** @throws KubeError when the API server does not answer */
export async function readKubernetes(client: Client): Promise<KubernetesFacts> {
  const served = async (plural: string): Promise<readonly string[]> =>
    servedVersions(client, { group: CERTIFICATES, plural }, VERSIONS);
  const { gitVersion = 'of an unknown version' } = await client.request<{ gitVersion?: string }>({
    method: 'GET',
    path: '/version',
  });
  const [podcertificaterequests, clustertrustbundles, kubelets, validating, mutating] =
    await Promise.all([
      served('podcertificaterequests'),
      served('clustertrustbundles'),
      seeAll(client, { group: '', version: 'v1', plural: 'nodes' }, kubeletOf),
      seeWebhooks(client, 'validating'),
      seeWebhooks(client, 'mutating'),
    ]);
  return {
    clockOffset: client.clockOffset(),
    version: gitVersion,
    served: { podcertificaterequests, clustertrustbundles },
    kubelets,
    webhooks:
      'value' in validating && 'value' in mutating
        ? { value: [...validating.value, ...mutating.value] }
        : {
            lacks: [validating, mutating]
              .flatMap((each) => ('lacks' in each ? [each.lacks] : []))
              .join(' and '),
          },
  };
}

function kubeletOf({ metadata, status }: ClusterNode): readonly Kubelet[] {
  const version = status?.nodeInfo?.kubeletVersion;
  return version === undefined || version === '' ? [] : [{ node: metadata.name, version }];
}

interface WebhookConfiguration extends StoredObject {
  readonly webhooks?: readonly Omit<Webhook, 'configuration'>[];
}

function seeWebhooks(
  client: Client,
  kind: 'validating' | 'mutating',
): Promise<Seen<readonly Webhook[]>> {
  const listing = {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: `${kind}webhookconfigurations`,
  };
  return seeAll<WebhookConfiguration, Webhook>(client, listing, ({ metadata, webhooks = [] }) =>
    webhooks.map((each) => ({
      ...each,
      configuration: `${kind}webhookconfiguration/${metadata.name}`,
    })),
  );
}

/** What `helm install` of the chart creates, as far as users often lack it. */
const INSTALL: readonly PermissionRule[] = [
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    verbs: ['create'],
  },
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['clusterroles', 'clusterrolebindings'],
    verbs: ['create'],
  },
  // A role that grants more than its author has is refused.
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['escalate'] },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    verbs: ['create'],
  },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['create'] },
];

/** Asks by SelfSubjectAccessReviews for what installing takes. */
export function missingInstallRights(
  client: Client,
  namespace: string,
): Promise<readonly MissingPermission[]> {
  const inNamespace: readonly PermissionRule[] = [
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['create'], namespace },
    { apiGroups: [''], resources: ['serviceaccounts', 'services'], verbs: ['create'], namespace },
  ];
  return missingPermissions(client, [...INSTALL, ...inNamespace]);
}
