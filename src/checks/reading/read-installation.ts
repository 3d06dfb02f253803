// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../../kube/client/client.ts';
import type { Lease } from '../../kube/lease/lease.ts';
import type { StoredObject } from '../../kube/resource/object.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { LiveAdmission } from '../../manifests/admission/compare.ts';
import { LABEL_COMPONENT } from '../../manifests/names.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import { COUNTERSIGNS } from '../../api/operator/countersign.ts';
import { CERT_MANAGER_DEPLOYMENTS } from '../../api/operator/cert-manager-deployment.ts';
import type { InstallationObject } from '../../api/operator/installation.ts';
import type {
  AcmeFacts,
  Definition,
  InstallationFacts,
  OperatedInstallation,
  ReadInit,
  SignerFacts,
} from '../facts.ts';
import type { Seen } from '../finding.ts';
import { installerOf, type InstalledMetadata } from '../installer.ts';
import { readAcme } from './read-acme.ts';
import { readDeployments } from './read-deployments.ts';
import { readRequests } from './read-requests.ts';
import { readSigners } from './read-signers.ts';
import { OURS, mapSeen, seeAll } from './see.ts';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', labelSelector: OURS };
const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1' };

/** @throws KubeError for any answer but 403, which is kept: what the user may not see is no fault */
export async function readInstallation(init: ReadInit): Promise<InstallationFacts> {
  const { client, namespace } = init;
  const installedBy: InstalledMetadata[] = [];
  const [definitions, deployments, leases, roles, policies, signers, acme, operated] =
    await Promise.all([
      seeAll(client, DEFINITIONS, definitionOf),
      readDeployments(client, namespace, (metadata) => installedBy.push(metadata)),
      seeAll<Lease, Lease>(
        client,
        {
          ...{ group: 'coordination.k8s.io', version: 'v1', plural: 'leases' },
          ...{ namespace, labelSelector: OURS },
        },
        (lease) => [lease],
      ),
      readRoles(client),
      readPolicies(client),
      readSigners(init),
      readAcme(client),
      readOperated(client),
    ]);
  const requests = await readRequests(client, signers, acme);
  // After the answers: the offset of the clocks is known.
  const now = serverTime(init);
  const named = withAcmeNames(signers, acme, init.secretNamespace);
  const facts = {
    definitions,
    deployments,
    leases,
    roles,
    policies,
    signers: named,
    requests,
    acme,
  };
  return { now, ...facts, installer: installerOf(installedBy), operated };
}

async function readOperated(client: Client): Promise<Seen<readonly OperatedInstallation[]>> {
  const take =
    (kind: OperatedInstallation['kind']) =>
    ({ metadata, status }: InstallationObject): readonly OperatedInstallation[] => [
      { kind, name: metadata.name, generation: metadata.generation ?? 0, status },
    ];
  const [ours, certManagers] = await Promise.all([
    seeAll(client, COUNTERSIGNS, take('Countersign')),
    seeAll(client, CERT_MANAGER_DEPLOYMENTS, take('CertManagerDeployment')),
  ]);
  if (!('value' in ours)) return ours;
  return mapSeen(certManagers, (found) => [...ours.value, ...found]);
}

/** The roles spell out the names of ACME signers as well. Who made an account key is not known: `acme` reads all. */
function withAcmeNames(
  signers: Seen<SignerFacts>,
  acme: Seen<AcmeFacts>,
  secretNamespace: string,
): Seen<SignerFacts> {
  if (!('value' in acme)) return signers;
  const ofCluster = acme.value.signers.filter(({ kind }) => kind === 'AcmeClusterSigner');
  if (ofCluster.length === 0) return signers;
  const names = {
    signers: ofCluster.map(({ spec }) => spec.signerName),
    secrets: ofCluster.map(({ spec }) => ({
      namespace: secretNamespace,
      name: spec.acme.accountKey.secret.name,
    })),
  };
  return mapSeen(signers, (facts) => ({
    ...facts,
    installation: { ...facts.installation, acme: names },
  }));
}

const DEFINITIONS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  labelSelector: OURS,
};

interface RawDefinition extends StoredObject {
  readonly metadata: StoredObject['metadata'] & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly versions?: readonly { readonly name: string; readonly served?: boolean }[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

function definitionOf({ metadata, spec, status }: RawDefinition): readonly Definition[] {
  return [
    {
      name: metadata.name,
      established: (status?.conditions ?? []).some(
        (each) => each.type === 'Established' && each.status === 'True',
      ),
      served: (spec?.versions ?? [])
        .filter(({ served }) => served === true)
        .map(({ name }) => name),
      release: metadata.labels?.['app.kubernetes.io/version'],
    },
  ];
}

interface Role extends StoredObject {
  readonly metadata: RawDefinition['metadata'] & { readonly namespace?: string };
  readonly rules?: readonly Partial<PermissionRule>[];
}

/** The rules of each component's ClusterRole and Roles. Those that aggregate have none of ours. */
async function readRoles(
  client: Client,
): Promise<Seen<ReadonlyMap<string, readonly PermissionRule[]>>> {
  const take = ({
    metadata,
    rules = [],
  }: Role): readonly (readonly [string, PermissionRule[]])[] => {
    const component = metadata.labels?.[LABEL_COMPONENT] ?? '';
    const { namespace } = metadata;
    return [[component, rules.map((rule) => ruleOf(rule, namespace))]];
  };
  const [cluster, namespaced] = await Promise.all([
    seeAll(client, { ...RBAC, plural: 'clusterroles' }, take),
    seeAll(client, { ...RBAC, plural: 'roles' }, take),
  ]);
  if (!('value' in cluster)) return cluster;
  if (!('value' in namespaced)) return namespaced;
  const byComponent = new Map<string, readonly PermissionRule[]>();
  const known = new Set(cluster.value.map(([component]) => component));
  for (const [component, rules] of [...cluster.value, ...namespaced.value]) {
    if (!known.has(component)) continue;
    byComponent.set(component, [...(byComponent.get(component) ?? []), ...rules]);
  }
  return { value: byComponent };
}

function ruleOf(rule: Partial<PermissionRule>, namespace: string | undefined): PermissionRule {
  const { apiGroups = [], resources = [], verbs = [], resourceNames } = rule;
  return {
    ...{ apiGroups, resources, verbs },
    ...(resourceNames === undefined ? {} : { resourceNames }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

type Spec = NonNullable<LiveAdmission['policy']>;
type Named = readonly [string, Spec];

/** Policies and bindings of our names, whoever labelled them. */
async function readPolicies(client: Client): Promise<Seen<ReadonlyMap<string, LiveAdmission>>> {
  const take = (object: StoredObject & Spec): readonly Named[] =>
    object.metadata.name.startsWith('countersign-') ? [[object.metadata.name, object]] : [];
  const [policies, bindings] = await Promise.all([
    seeAll(client, { ...ADMISSION, plural: 'validatingadmissionpolicies' }, take),
    seeAll(client, { ...ADMISSION, plural: 'validatingadmissionpolicybindings' }, take),
  ]);
  if (!('value' in policies)) return policies;
  if (!('value' in bindings)) return bindings;
  const bound = new Map(bindings.value);
  return {
    value: new Map(
      policies.value.map(([name, policy]) => [name, { policy, binding: bound.get(name) }]),
    ),
  };
}
