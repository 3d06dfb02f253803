// SPDX-License-Identifier: Apache-2.0
import { recordOf } from '#base/object-keys.ts';
import type { ClusterNode } from '#api/object/node.ts';
import type { Client } from '#kube/client/client.ts';
import { missingPermissions, type MissingPermission } from '#kube/client/access-review.ts';
import { servedVersions } from '#kube/client/discovery.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import type { KubernetesFacts, Kubelet, LedgerFacts, StorageClass, Webhook } from '../facts.ts';
import type { ReadResult } from '../finding.ts';
import { mayBlock } from '../kubernetes.ts';
import { discoveryPermission, listVisible, see } from './list-visible.ts';

const CERTIFICATES = 'certificates.k8s.io';
const VERSIONS = ['v1', 'v1beta1'];

/**
 * Reads the facts about the cluster.
 *
 * @throws KubeError if the API server does not respond
 */
export async function readKubernetes(client: Client): Promise<KubernetesFacts> {
  const served = async (plural: string): Promise<readonly string[]> =>
    servedVersions(client, { group: CERTIFICATES, plural }, VERSIONS);
  // It is the first request: without an answer, nothing else is read.
  const version = await see('get /version (ClusterRole system:public-info-viewer)', async () => {
    const init = { method: 'GET', path: '/version' } as const;
    const { gitVersion } = await client.request<{ readonly gitVersion?: string }>(init);
    return gitVersion ?? 'of an unknown version';
  });
  const [kinds, kubelets, validating, mutating] = await Promise.all([
    see(discoveryPermission(CERTIFICATES), async () => {
      const plurals = ['podcertificaterequests', 'clustertrustbundles'] as const;
      const found = plurals.map(async (plural) => [plural, await served(plural)] as const);
      return recordOf(await Promise.all(found));
    }),
    listVisible(client, { group: '', version: 'v1', plural: 'nodes' }, kubeletOf),
    seeWebhooks(client, 'validating'),
    seeWebhooks(client, 'mutating'),
  ]);
  return {
    clockOffset: client.clockOffset(),
    version,
    served: kinds,
    kubelets,
    webhooks:
      'value' in validating && 'value' in mutating
        ? { value: await withEndpoints(client, [...validating.value, ...mutating.value]) }
        : {
            lacks: [validating, mutating]
              .flatMap((each) => ('lacks' in each ? [each.lacks] : []))
              .join(' and '),
          },
  };
}

function kubeletOf({ metadata, spec, status }: ClusterNode): readonly Kubelet[] {
  const version = status?.nodeInfo?.kubeletVersion;
  if (version === undefined || version === '') return [];
  return [{ node: metadata.name, version, isCordoned: spec?.unschedulable === true }];
}

interface RawWebhook extends Omit<Webhook, 'configuration' | 'service' | 'served'> {
  readonly clientConfig?: {
    readonly service?: { readonly namespace: string; readonly name: string };
  };
}

interface WebhookConfiguration extends StoredObject {
  readonly webhooks?: readonly RawWebhook[];
}

interface EndpointSlice extends StoredObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
}

/**
 * Adds whether the Service of each webhook that may block has a ready endpoint, if the user may
 * list endpoints.
 */
function withEndpoints(client: Client, all: readonly Webhook[]): Promise<readonly Webhook[]> {
  return Promise.all(
    all.map(async (webhook) => {
      const [namespace, name] = webhook.service?.split('/') ?? [];
      if (namespace === undefined || name === undefined || !mayBlock(webhook)) return webhook;
      const slices = await listVisible<EndpointSlice, true>(
        client,
        {
          group: 'discovery.k8s.io',
          version: 'v1',
          plural: 'endpointslices',
          namespace,
          labelSelector: `kubernetes.io/service-name=${name}`,
        },
        // An endpoint whose state is not known counts as ready (discovery.k8s.io/v1
        // EndpointConditions).
        ({ endpoints }) =>
          (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false) ? [true] : [],
      );
      return 'value' in slices ? { ...webhook, served: slices.value.length > 0 } : webhook;
    }),
  );
}

function seeWebhooks(
  client: Client,
  kind: 'validating' | 'mutating',
): Promise<ReadResult<readonly Webhook[]>> {
  const listing = {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: `${kind}webhookconfigurations`,
  };
  return listVisible<WebhookConfiguration, Webhook>(
    client,
    listing,
    ({ metadata, webhooks = [] }) =>
      webhooks.map(({ clientConfig, ...each }) => {
        const configuration = `${kind}webhookconfiguration/${metadata.name}`;
        const service = clientConfig?.service;
        return service === undefined
          ? { ...each, configuration }
          : { ...each, configuration, service: `${service.namespace}/${service.name}` };
      }),
  );
}

/** The permissions that `helm install` needs and users often lack. */
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
  // The API server rejects a role that grants more than its author has.
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['escalate'] },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    verbs: ['create'],
  },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['create'] },
];

/** Returns the missing permissions for an installation, by SelfSubjectAccessReviews. */
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

/** Annotation of a default class (kubernetes.io/docs/concepts/storage/storage-classes). */
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

interface StoredStorageClass extends StoredObject {
  readonly metadata: StoredObject['metadata'] & {
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Reads the prerequisites of the ledger. */
export async function readLedgerNeeds(client: Client): Promise<LedgerFacts> {
  const storageClasses = await listVisible<StoredStorageClass, StorageClass>(
    client,
    { group: 'storage.k8s.io', version: 'v1', plural: 'storageclasses' },
    ({ metadata: { name, annotations } }) => [
      { name, isDefault: annotations?.[DEFAULT_CLASS] === 'true' },
    ],
  );
  return { storageClasses };
}
