// SPDX-License-Identifier: Apache-2.0
import {
  isAlive,
  podCertificateSigners,
  trustBundleSources,
  type OwnerReference,
  type Pod,
  type PodVolume,
} from '#api/object/pod.ts';
import { isProjected } from '#api/object/cluster-trust-bundle.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { Service } from '#api/object/service.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { REVOCATIONS } from '#api/revocation/names.ts';
import { readRevocation, type Revocation } from '#api/revocation/revocation.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { fullQuotaIn, type ResourceQuota } from '#operations/pods/quota.ts';
import type { SignerState } from '#operations/signer-state.ts';
import type { PodFacts, SignerFacts } from '../facts.ts';
import type { ReadResult } from '../finding.ts';
import { managedNames } from '../managed-names.ts';
import { listVisible, listVisibleVersion } from './list-visible.ts';

const CORE = { group: '', version: 'v1' };

/** Maximum number of pods whose Events are read. The other pods usually have the same cause. */
const MAX_EXPLAINED = 5;

/** Finished pods need no credential. The API server filters them out. */
const ALIVE = 'status.phase!=Succeeded,status.phase!=Failed';

/**
 * Lists the pods that mount a certificate of a signer, and the evidence of which leaves they hold.
 */
export async function readPods(
  client: Client,
  signers: ReadResult<SignerFacts>,
): Promise<ReadResult<PodFacts>> {
  if (!('value' in signers)) return signers;
  const { states } = signers.value;
  const isManaged = managedNames(signers.value);
  const uses = usesOf(states, isManaged);
  const shared: SharedParts = {
    texts: new SharedCopies(),
    labels: new SharedCopies(),
    owners: new SharedCopies(),
    volumes: new SharedCopies(),
  };
  const trusting: Pod[] = [];
  const pods = await listVisible(
    client,
    { ...CORE, plural: 'pods', fieldSelector: ALIVE },
    (pod: Pod) => {
      const { mounts, trusts } = uses(pod);
      if (!isAlive(pod) || !(mounts || trusts)) return [];
      const kept = reduced(pod, shared);
      if (trusts) trusting.push(kept);
      return mounts ? [kept] : [];
    },
  );
  if (!('value' in pods)) return pods;
  const mounting = pods.value;
  const needsServices = states.some(({ signer }) => signer.spec.pods?.services !== undefined);
  const none = { value: [] };
  const [requests, revocations, services] = await Promise.all([
    mounting.length === 0 ? none : readPodRequests(client, isManaged),
    readRevocations(client),
    needsServices && mounting.length > 0 ? readServices(client) : none,
  ]);
  if (!('value' in requests)) return requests;
  if (!('value' in revocations)) return revocations;
  const waiting = mounting.filter(({ status }) => status?.phase === 'Pending');
  const [quotas, warnings] = await Promise.all([
    waiting.length === 0 ? [] : readFullQuotas(client),
    readWarnings(client, waiting.slice(0, MAX_EXPLAINED)),
  ]);
  return {
    value: {
      mounting,
      trusting,
      requests: requests.value,
      revocations: revocations.value,
      services,
      quotas,
      warnings,
    },
  };
}

/** Returns a function that finds the signers' certificates and bundles among a pod's volumes. */
function usesOf(
  states: readonly SignerState[],
  isManaged: (signerName: string) => boolean,
): (pod: Pod) => { readonly mounts: boolean; readonly trusts: boolean } {
  const bundles = states.flatMap(({ bundle }) => (typeof bundle === 'object' ? [bundle] : []));
  const named = new Map(bundles.map((bundle) => [bundle.metadata.name, bundle]));
  const bySigner = Map.groupBy(bundles, ({ spec }) => spec.signerName ?? '');
  return (pod) => ({
    mounts: [...podCertificateSigners(pod)].some(isManaged),
    trusts: trustBundleSources(pod).some((source) => {
      const { name, signerName = '' } = source;
      if (name !== undefined) return named.has(name);
      return (bySigner.get(signerName) ?? []).some((each) => isProjected(source, each));
    }),
  });
}

/** Pods of one template have equal volumes and labels: one copy of each is enough. */
class SharedCopies<T> {
  readonly #known = new Map<string, T>();

  /** Returns one object for all equal ones. */
  of(value: T): T {
    const key = typeof value === 'string' ? value : JSON.stringify(value);
    const found = this.#known.get(key) ?? value;
    this.#known.set(key, found);
    return found;
  }
}

interface SharedParts {
  /** Namespaces, nodes, phases and times, which thousands of pods share. */
  readonly texts: SharedCopies<string>;
  readonly labels: SharedCopies<Readonly<Record<string, string>>>;
  readonly owners: SharedCopies<readonly OwnerReference[]>;
  readonly volumes: SharedCopies<readonly PodVolume[]>;
}

/** Returns a pod with only the fields that checks and pages read, to save memory. */
function reduced({ apiVersion, kind, metadata, spec, status = {} }: Pod, shared: SharedParts): Pod {
  const { name, namespace = '', uid, resourceVersion, creationTimestamp, labels = {} } = metadata;
  const { nodeName, volumes = [] } = spec;
  const { phase, startTime } = status;
  const text = (of: string): string => shared.texts.of(of);
  const owners = (metadata.ownerReferences ?? [])
    .filter(({ controller }) => controller === true)
    .map(({ kind: of, name: owner }) => ({ kind: of, name: owner, controller: true }));
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: text(namespace),
      uid,
      resourceVersion,
      creationTimestamp: text(creationTimestamp),
      labels: shared.labels.of(labels),
      ...(owners.length === 0 ? {} : { ownerReferences: shared.owners.of(owners) }),
    },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName: text(nodeName) }),
      volumes: shared.volumes.of(volumes.filter(({ projected }) => projected !== undefined)),
    },
    status: {
      ...(phase === undefined ? {} : { phase: text(phase) }),
      ...(startTime === undefined ? {} : { startTime: text(startTime) }),
    },
  };
}

function readPodRequests(
  client: Client,
  isManaged: (signerName: string) => boolean,
): Promise<ReadResult<readonly PodCertificateRequest[]>> {
  return listVisibleVersion(client, 'podcertificaterequests', (request: PodCertificateRequest) =>
    isManaged(request.spec.signerName) ? [request] : [],
  );
}

function readRevocations(client: Client): Promise<ReadResult<readonly Revocation[]>> {
  return listVisible(client, REVOCATIONS, (object: KubeObject) => {
    const read = attempt(() => readRevocation(object));
    return read instanceof SignerError ? [] : [read];
  });
}

function readServices(client: Client): Promise<ReadResult<readonly Service[]>> {
  return listVisible(client, { ...CORE, plural: 'services' }, (service: Service) => [service]);
}

/** Returns nothing if the user may not list quotas: they only explain why a pod waits. */
async function readFullQuotas(client: Client): Promise<PodFacts['quotas']> {
  const found = await listVisible(
    client,
    { ...CORE, plural: 'resourcequotas' },
    (quota: ResourceQuota) => {
      const full = fullQuotaIn(quota);
      return full === undefined ? [] : [{ ...full, namespace: quota.metadata.namespace ?? '' }];
    },
  );
  return 'value' in found ? found.value : [];
}

interface Warning extends KubeObject {
  readonly type?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** Returns the latest warning about each pod by its UID. Empty if the user may not list Events. */
async function readWarnings(
  client: Client,
  pods: readonly Pod[],
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    pods.map(async ({ metadata: { namespace = '', uid } }) => {
      const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
      const listing = { ...CORE, plural: 'events', namespace, fieldSelector };
      const events = await listVisible(client, listing, (event: Warning) => [event]);
      const newest =
        'value' in events
          ? events.value.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b))).at(-1)
          : undefined;
      return newest?.message === undefined ? [] : [[uid, newest.message] as const];
    }),
  );
  return new Map(found.flat());
}

function timeOf({ lastTimestamp, eventTime }: Warning): string {
  return lastTimestamp ?? eventTime ?? '';
}
