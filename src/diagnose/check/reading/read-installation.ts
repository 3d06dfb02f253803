// SPDX-License-Identifier: Apache-2.0
import { membersOf } from '#base/record.ts';
import type { Client } from '#kube/client/client.ts';
import type { Lease } from '#kube/lease/lease.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import type { LiveAdmission } from '#install/admission/compare.ts';
import { serverTime } from '#component/server-time.ts';
import { COUNTERSIGNS } from '#api/operator/countersign.ts';
import { CERT_MANAGER_DEPLOYMENTS } from '#api/operator/cert-manager-deployment.ts';
import type { InstallationObject } from '#api/operator/installation.ts';
import type {
  AcmeFacts,
  Definition,
  InstallationFacts,
  OperatedInstallation,
  ReadInit,
  SignerFacts,
} from '../facts.ts';
import type { ReadResult } from '../finding.ts';
import { installerOf, type InstalledMetadata } from '../installer.ts';
import { readAcme } from './read-acme.ts';
import { readExternal, withExternalNames } from './read-external.ts';
import { definitionDifferences } from '#install/definition-differences.ts';
import { readAnnotated } from './read-annotated.ts';
import { readFlowControl } from './read-flow-control.ts';
import { readAccounts, readApiServices, readBindings, readRoles } from './read-access.ts';
import { readDeployments } from './read-deployments.ts';
import { readPods } from './read-pods.ts';
import { readRequests } from './read-requests.ts';
import { readSigners } from './read-signers.ts';
import { MANAGED, mapSeen, listVisible } from './list-visible.ts';

const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1' };

/**
 * Reads the facts about the installation.
 *
 * @param signersRead - a read of the ClusterSigners, which a page shows before all else is read
 * @throws KubeError for any error but 403, which becomes a missing permission
 */
export async function readInstallation(
  init: ReadInit,
  signersRead: Promise<ReadResult<SignerFacts>> = readSigners(init),
): Promise<InstallationFacts> {
  const { client, namespace } = init;
  const installedBy: InstalledMetadata[] = [];
  const [
    definitions,
    deployments,
    leases,
    roles,
    policies,
    signers,
    acme,
    external,
    operated,
    bindings,
    accounts,
    apiServices,
    flowControl,
  ] = await Promise.all([
    listVisible(client, DEFINITIONS, definitionOf),
    readDeployments(client, namespace, (metadata) => installedBy.push(metadata)),
    listVisible<Lease, Lease>(
      client,
      {
        group: 'coordination.k8s.io',
        version: 'v1',
        plural: 'leases',
        namespace,
        labelSelector: MANAGED,
      },
      (lease) => [lease],
    ),
    readRoles(client),
    readPolicies(client),
    signersRead,
    readAcme(client),
    readExternal(client),
    readOperated(client),
    readBindings(client),
    readAccounts(client, namespace),
    readApiServices(client),
    readFlowControl(client),
  ]);
  const [requests, pods, annotated] = await Promise.all([
    readRequests(client, signers, acme),
    readPods(client, signers),
    readAnnotated(client),
  ]);
  // The responses set the clock offset, so this comes after them.
  const now = serverTime(init);
  const named = withExternalNames(withAcmeNames(signers, acme, init.secretNamespace), external);
  const facts = {
    definitions,
    deployments,
    leases,
    roles,
    bindings,
    accounts,
    apiServices,
    policies,
    flowControl,
    signers: named,
    requests,
    pods,
    annotated,
    acme,
    external,
  };
  return { now, namespace, ...facts, installer: installerOf(installedBy), operated };
}

/** Reads the objects of the operators. */
export async function readOperated(
  client: Client,
): Promise<ReadResult<readonly OperatedInstallation[]>> {
  const take =
    (kind: OperatedInstallation['kind']) =>
    (object: InstallationObject): readonly OperatedInstallation[] => {
      const { metadata, status, spec } = object;
      const { signers } = membersOf(spec);
      const generation = metadata.generation ?? 0;
      const of = { kind, name: metadata.name, generation, status };
      return [Array.isArray(signers) ? { ...of, signers } : of];
    };
  const [ours, certManagers] = await Promise.all([
    listVisible(client, COUNTERSIGNS, take('Countersign')),
    listVisible(client, CERT_MANAGER_DEPLOYMENTS, take('CertManagerDeployment')),
  ]);
  if (!('value' in ours)) return ours;
  return mapSeen(certManagers, (found) => [...ours.value, ...found]);
}

/**
 * Adds the names of ACME signers, which roles list as well. `acme` reads every account key, because
 * the creator of a key is unknown.
 */
export function withAcmeNames(
  signers: ReadResult<SignerFacts>,
  acme: ReadResult<AcmeFacts>,
  secretNamespace: string,
): ReadResult<SignerFacts> {
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

const DEFINITION_VERSION = 'apiextensions.k8s.io/v1';
const DEFINITIONS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  labelSelector: MANAGED,
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

function definitionOf(raw: RawDefinition): readonly Definition[] {
  const { metadata, spec, status } = raw;
  // Items of a list lack their own kind.
  const object = { ...raw, apiVersion: DEFINITION_VERSION, kind: 'CustomResourceDefinition' };
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
      differences: definitionDifferences(object),
    },
  ];
}

type Spec = NonNullable<LiveAdmission['policy']>;
type NamedSpec = readonly [string, Spec];

/** Reads policies and bindings named `countersign-…`, with any labels. */
async function readPolicies(
  client: Client,
): Promise<ReadResult<ReadonlyMap<string, LiveAdmission>>> {
  const take = (object: StoredObject & Spec): readonly NamedSpec[] =>
    object.metadata.name.startsWith('countersign-') ? [[object.metadata.name, object]] : [];
  const [policies, bindings] = await Promise.all([
    listVisible(client, { ...ADMISSION, plural: 'validatingadmissionpolicies' }, take),
    listVisible(client, { ...ADMISSION, plural: 'validatingadmissionpolicybindings' }, take),
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
