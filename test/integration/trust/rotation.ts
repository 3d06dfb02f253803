// SPDX-License-Identifier: Apache-2.0
/** Many targets, one of them broken indefinitely. */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { apply } from '../../support/cluster/apply.ts';

/** Namespaces with a copy each; one in five has a truststore as well. */
export const CROWD: readonly string[] = Array.from({ length: 50 }, (_none, at) => `crowd-${at}`);

/** The namespace in which a policy denies every write of a ConfigMap. */
export const BROKEN = 'broken';

const POLICY_KIND = { apiVersion: 'admissionregistration.k8s.io/v1' };
const POLICY_NAME = 'no-configmaps-in-broken';

/** Creates {@link CROWD}, and {@link BROKEN} once its policy denies. */
export async function createCrowd(cluster: Cluster, waitMs: number): Promise<void> {
  await apply(cluster, namespaceOf(BROKEN, {}), ...denyingPolicy());
  const create = ['create', 'configmap', 'denied', '-n', BROKEN, '--dry-run=server'];
  await until('the policy denies', waitMs, async () => {
    const { code, stderr } = await cluster.kubectl(create, { allowFailure: true });
    return code !== 0 && stderr.includes(POLICY_NAME);
  });
  const optIn = (value: string): object => ({ 'countersign.dev/trust': value });
  const crowd = CROWD.map((each, at) =>
    namespaceOf(each, optIn(at % 5 === 0 ? 'pkcs12' : 'enabled')),
  );
  await apply(cluster, ...crowd, namespaceOf(BROKEN, optIn('enabled')));
}

function namespaceOf(name: string, labels: object): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

function denyingPolicy(): readonly object[] {
  const resource = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    operations: ['CREATE', 'UPDATE'],
  };
  const policy = {
    ...POLICY_KIND,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: POLICY_NAME },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules: [resource] },
      validations: [{ expression: 'false' }],
    },
  };
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': BROKEN } };
  const binding = {
    ...POLICY_KIND,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: POLICY_NAME },
    spec: {
      policyName: POLICY_NAME,
      validationActions: ['Deny'],
      matchResources: { namespaceSelector },
    },
  };
  return [policy, binding];
}

/** The CA that signs now. */
export function signing({ status }: ClusterSigner): string {
  return status?.authorities?.find(({ phase }) => phase === 'Active')?.fingerprint ?? '';
}
