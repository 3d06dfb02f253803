// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import type { Lease } from '#kube/lease/lease.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import type { LiveAdmission } from '#install/admission/compare.ts';
import { serverTime } from '#component/server-time.ts';
import type { Definition, InstallationFacts, ReadInit, SignerFacts } from '../facts.ts';
import type { ReadResult } from '../finding.ts';
import { definitionDifferences } from '#install/definition-differences.ts';
import { readAnnotated } from './read-annotated.ts';
import { readFlowControl } from './read-flow-control.ts';
import { readListing } from './read-listing.ts';
import { readAccounts, readApiServices, readBindings } from './read-access.ts';
import { readPods } from './read-pods.ts';
import { readRequests } from './read-requests.ts';
import { readSigners } from './read-signers.ts';
import { MANAGED, listVisible } from './list-visible.ts';

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
  const [listing, definitions, leases, policies, bindings, accounts, apiServices, flowControl] =
    await Promise.all([
      readListing(init, { signers: signersRead }),
      listVisible(client, DEFINITIONS, definitionOf),
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
      readPolicies(client),
      readBindings(client),
      readAccounts(client, namespace),
      readApiServices(client),
      readFlowControl(client),
    ]);
  const [requests, pods, annotated] = await Promise.all([
    readRequests(client, listing.signers, listing.acme),
    readPods(client, listing.signers),
    readAnnotated(client),
  ]);
  // The responses set the clock offset, so this comes after them.
  const now = serverTime(init);
  return {
    now,
    ...listing,
    definitions,
    leases,
    bindings,
    accounts,
    apiServices,
    policies,
    flowControl,
    requests,
    pods,
    annotated,
  };
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
