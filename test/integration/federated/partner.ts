// SPDX-License-Identifier: Apache-2.0
/**
 * A second installation in the same cluster, with namespaces, a signer and a trust domain of its
 * own.
 */
import { parseAllDocuments } from 'yaml';
import { SECRET_NAMESPACE } from '#api/signer/bundle-annotations.ts';
import type { Installation } from '#install/installation.ts';
import { renderRbac } from '#install/render.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { apply } from '../../support/cluster/apply.ts';
import {
  startComponent,
  type ComponentName,
  type ComponentProcess,
  type OptionalComponentName,
} from '../../support/cluster/component-process.ts';
import { example } from '../../support/cluster/fixture.ts';

const NAMESPACE = 'partner-system';
const KEYS = 'partner-keys';
const SIGNER = 'example.org/workload';

/** What its attester publishes. */
export const PARTNER_BUNDLE = 'example.org:workload:primary';
/** The bundles that it publishes say so. */
export const PARTNER_MARK = `${SECRET_NAMESPACE}=${KEYS}`;

type Name = ComponentName | OptionalComponentName;

/** Starts one of its components, as its own ServiceAccount. */
export async function startPartner(
  cluster: Cluster,
  name: Name,
  args: readonly string[],
): Promise<ComponentProcess> {
  return startComponent({
    name,
    kubeconfig: await cluster.serviceAccountKubeconfig(NAMESPACE, `countersign-${name}`),
    args: ['--lease-namespace', NAMESPACE, '--secret-namespace', KEYS, ...args],
  });
}

/** Its namespaces, roles and ClusterSigner. */
export async function applyPartner(cluster: Cluster, federated: readonly string[]): Promise<void> {
  const installation: Installation = {
    signers: [SIGNER],
    bundles: [PARTNER_BUNDLE],
    servingSigner: 'example.org/serving',
    secrets: [{ namespace: KEYS, name: 'workload-ca' }],
    namespace: NAMESPACE,
    optionalComponents: ['bundle-endpoint', 'federation'],
    federated,
  };
  const printed = renderRbac(installation);
  const names = ['authority', 'attester', 'bundle-endpoint', 'federation'];
  const roles = names.flatMap((name) =>
    parseAllDocuments(printed.get(`${name}.yaml`) ?? '').map((document) =>
      ownName(document.toJS() as Named),
    ),
  );
  const namespaces = [NAMESPACE, KEYS].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }));
  await apply(cluster, ...namespaces, ...roles, ...attests());
  await apply(cluster, signer());
}

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly roleRef?: { readonly name: string };
}

/** The roles of the first installation have the printed names. */
function ownName(object: Named): object {
  if (object.kind === 'ServiceAccount') return object;
  const own = (name: string): string => `partner-${name}`;
  const { metadata, roleRef } = object;
  return {
    ...object,
    metadata: { ...metadata, name: own(metadata.name) },
    ...(roleRef === undefined ? {} : { roleRef: { ...roleRef, name: own(roleRef.name) } }),
  };
}

/**
 * The policy of the first installation lets its own `authority` write a status, and who may attest.
 */
function attests(): readonly object[] {
  const group = 'rbac.authorization.k8s.io';
  const metadata = { name: 'partner-attests' };
  const rule = {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: [SIGNER],
    verbs: ['attest'],
  };
  const subject = { kind: 'ServiceAccount', name: 'countersign-authority', namespace: NAMESPACE };
  return [
    { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata, rules: [rule] },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: metadata.name },
      subjects: [subject],
    },
  ];
}

function signer(): object {
  const { spec, ...object } = example('workload');
  const managed = { ...spec.authority.managed, secret: { namespace: KEYS, name: 'workload-ca' } };
  return {
    ...object,
    metadata: { name: 'partner' },
    spec: { ...spec, signerName: SIGNER, authority: { managed } },
  };
}
