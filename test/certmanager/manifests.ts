// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../cluster/cluster.ts';
import { apply } from '../support/cluster/apply.ts';

export const NAMESPACE = 'cert-manager';

const RBAC = 'rbac.authorization.k8s.io';
const labels = { 'app.kubernetes.io/part-of': 'cert-manager' };

const EVERY_VERB = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/**
 * What cert-manager's Helm chart grants its controllers, as far as Certificates need it; no
 * `approve`.
 */
const CONTROLLERS = [
  {
    apiGroups: ['cert-manager.io'],
    // Not all of the group: its `signers` are for approvers.
    resources: ['certificates', 'certificaterequests', 'issuers', 'clusterissuers'].flatMap(
      (each) => [each, `${each}/status`, `${each}/finalizers`],
    ),
    verbs: EVERY_VERB,
  },
  { apiGroups: [''], resources: ['secrets'], verbs: EVERY_VERB },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
];

/** The same for its controllers of ACME issuers. */
const ACME = [
  {
    apiGroups: ['acme.cert-manager.io'],
    resources: ['orders', 'challenges'].flatMap((each) => [
      each,
      `${each}/status`,
      `${each}/finalizers`,
    ]),
    verbs: EVERY_VERB,
  },
  { apiGroups: [''], resources: ['pods', 'services'], verbs: EVERY_VERB },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: EVERY_VERB },
];

/** Its webhook asks the API server who may approve. */
const WEBHOOK = [
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];

/** The namespace, and one ServiceAccount with its rights for each of the two. */
export async function applyIdentities(cluster: Cluster): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  const items = [
    namespace,
    ...identity('cert-manager', [...CONTROLLERS, ...ACME]),
    ...identity('cert-manager-webhook', WEBHOOK),
  ];
  await apply(cluster, ...items);
}

/** Returns a ServiceAccount of cert-manager's namespace, with its ClusterRole and binding. */
export function identity(name: string, rules: readonly object[]): readonly object[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: NAMESPACE, labels } },
    ...bound(name, rules, name),
  ];
}

function bound(name: string, rules: readonly object[], account: string): readonly object[] {
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name, labels }, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name, labels },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: NAMESPACE }],
    },
  ];
}

/** What an administrator grants so that cert-manager's own approver approves for an issuer. */
export async function allowApproval(cluster: Cluster, issuer: string): Promise<void> {
  const rule = {
    apiGroups: ['cert-manager.io'],
    resources: ['signers'],
    resourceNames: [issuer],
    verbs: ['approve'],
  };
  await apply(cluster, ...bound('cert-manager-approve-countersign', [rule], 'cert-manager'));
}

/** Where the webhook listens, and the certificate that it shows there. */
export interface Served {
  readonly url: string;
  readonly ca: string;
}

/** As the chart's templates/webhook-*-webhook.yaml, but by address. */
export async function applyWebhooks(cluster: Cluster, { url, ca }: Served): Promise<void> {
  const common = {
    admissionReviewVersions: ['v1'],
    matchPolicy: 'Equivalent',
    timeoutSeconds: 30,
    failurePolicy: 'Fail',
    sideEffects: 'None',
    name: 'webhook.cert-manager.io',
  };
  const client = (path: string): object => ({
    url: `${url}${path}`,
    caBundle: Buffer.from(ca).toString('base64'),
  });
  const metadata = { name: 'cert-manager-webhook', labels };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  await apply(
    cluster,
    {
      apiVersion,
      kind: 'MutatingWebhookConfiguration',
      metadata,
      webhooks: [
        {
          ...common,
          clientConfig: client('/mutate'),
          rules: [
            {
              apiGroups: ['cert-manager.io'],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['certificaterequests'],
            },
          ],
        },
      ],
    },
    {
      apiVersion,
      kind: 'ValidatingWebhookConfiguration',
      metadata,
      webhooks: [
        {
          ...common,
          clientConfig: client('/validate'),
          rules: [
            {
              apiGroups: ['cert-manager.io', 'acme.cert-manager.io'],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['*/*'],
            },
          ],
        },
      ],
    },
  );
}
