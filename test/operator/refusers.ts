// SPDX-License-Identifier: Apache-2.0
/** Who refuses one object of an installation: policies, webhooks and quotas of others. */
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import { SYSTEM, WAIT_MS, type Stand } from './stand.ts';

const NAME = 'no-signer';
const VERSION = 'admissionregistration.k8s.io/v1';
const CREATED = {
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['deployments'],
};

/** Something that refuses to have the Deployment of `signer` made. */
export interface Refuser {
  readonly what: string;
  readonly objects: readonly object[];
  /** As `kubectl delete` takes them, in the order in which they go. */
  readonly names: readonly string[];
  /** What the API server says then. */
  readonly says: RegExp;
}

export const REFUSERS: readonly Refuser[] = [
  {
    what: 'an admission policy',
    objects: [
      {
        apiVersion: VERSION,
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: NAME },
        spec: {
          matchConstraints: { resourceRules: [CREATED] },
          validations: [
            {
              expression: "object.metadata.name != 'countersign-signer'",
              message: 'no signer today',
            },
          ],
        },
      },
      {
        apiVersion: VERSION,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: NAME },
        spec: { policyName: NAME, validationActions: ['Deny'] },
      },
    ],
    names: [`validatingadmissionpolicybinding/${NAME}`, `validatingadmissionpolicy/${NAME}`],
    says: /no signer today/,
  },
  {
    what: 'an admission webhook whose server is away',
    objects: [
      {
        apiVersion: VERSION,
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: NAME },
        webhooks: [
          {
            name: 'no-signer.example.com',
            rules: [CREATED],
            failurePolicy: 'Fail',
            // Nobody listens at the port of discard.
            clientConfig: { url: 'https://127.0.0.1:9/' },
            matchConditions: [
              { name: 'signer', expression: "object.metadata.name == 'countersign-signer'" },
            ],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            timeoutSeconds: 5,
          },
        ],
      },
    ],
    names: [`validatingwebhookconfiguration/${NAME}`],
    says: /failed calling webhook "no-signer\.example\.com"/,
  },
];

/** In force once the controller of quotas has counted. */
export async function quota({ cluster }: Stand, name: string, hard: object): Promise<void> {
  const metadata = { name, namespace: SYSTEM };
  await apply(cluster, { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } });
  await until('the quota is counted', WAIT_MS, async () => {
    const args = ['get', 'resourcequota', name, '-n', SYSTEM, '-o', 'jsonpath={.status.hard}'];
    return (await cluster.kubectl(args)).stdout !== '';
  });
}
