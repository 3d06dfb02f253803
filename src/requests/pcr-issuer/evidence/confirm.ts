// SPDX-License-Identifier: Apache-2.0
import { ACCEPT_METADATA, readPartialObjectMetadata, type KubeObject } from '#api/object/object.ts';
import type { Pod } from '#api/object/pod.ts';
import { isHeadless, selectsLabels, type Service } from '#api/object/service.ts';
import { SignerError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { PODS, SERVICES } from '#kube/resource/core-v1.ts';
import { labelsText, type Proof } from './evidence.ts';
import { shareReads } from './shared-reads.ts';
import * as messages from '../messages.ts';

/**
 * Confirms with the API server, bypassing caches, that the pod and the Services of a leaf are
 * unchanged: the same objects, the same labels, still selecting. A change between this check and
 * the write takes effect at the next renewal.
 *
 * @returns the change, or undefined if nothing relevant changed
 * @throws KubeError if an object cannot be read
 */
export type Confirm = (proof: Proof) => Promise<SignerError | undefined>;

/**
 * Creates a {@link Confirm} that shares reads of a Service, since a rollout issues many leaves at
 * once.
 */
export function createConfirm(client: Client): Confirm {
  const readService = shareReads((path) => readMetadata(client, path));
  return async (proof) => {
    const [pod, ...services] = await Promise.all([
      readMetadata(client, PODS.object(proof.pod.metadata)),
      ...proof.services.map(({ metadata }) => readService(SERVICES.object(metadata))),
    ]);
    return judge(client, proof, { pod, services });
  };
}

/** Current objects of a proof, or undefined for a missing one. */
interface Now {
  readonly pod: Metadata | undefined;
  readonly services: readonly (Metadata | undefined)[];
}

async function judge(client: Client, proof: Proof, now: Now): Promise<SignerError | undefined> {
  const pod = same(proof.pod, now.pod);
  if (pod === undefined) return changed(messages.POD_GONE);
  const { labels } = pod;
  if (labelsText(labels, proof.labels) !== labelsText(proof.pod.metadata.labels, proof.labels))
    return changed(messages.LABEL_CHANGED);
  const isOther = pod.resourceVersion !== proof.pod.metadata.resourceVersion;
  if (proof.hasAddress && isOther && !(await keepsAddress(client, proof.pod)))
    return changed(messages.ADDRESS_CHANGED);
  for (const [index, before] of proof.services.entries()) {
    const after = await current(client, before, same(before, now.services[index]));
    const name = before.metadata.name;
    if (after === undefined) return changed(messages.serviceGone(name));
    if (!selectsLabels(after, labels)) return changed(messages.serviceNotSelecting(name));
    if (isHeadless(after) !== isHeadless(before)) return changed(messages.serviceOfOtherKind(name));
  }
  return undefined;
}

type Metadata = KubeObject['metadata'];

/** @returns undefined if the object does not exist */
async function readMetadata(client: Client, path: string): Promise<Metadata | undefined> {
  const found = await client
    .request<{ readonly metadata: Metadata }>({
      method: 'GET',
      path,
      accept: ACCEPT_METADATA,
      read: readPartialObjectMetadata,
    })
    .catch(ignoreNotFound);
  return found?.metadata;
}

/** Returns the current metadata if it is the same object. */
function same({ metadata }: KubeObject, now: Metadata | undefined): Metadata | undefined {
  return now?.uid === metadata.uid ? now : undefined;
}

/** Returns the current Service. Reuses the known one if the resourceVersion is unchanged. */
async function current(
  client: Client,
  before: Service,
  now: Metadata | undefined,
): Promise<Service | undefined> {
  if (now === undefined || now.resourceVersion === before.metadata.resourceVersion)
    return now && before;
  const path = SERVICES.object(before.metadata);
  const fresh = await client.request<Service>({ method: 'GET', path }).catch(ignoreNotFound);
  return fresh?.metadata.uid === before.metadata.uid ? fresh : undefined;
}

async function keepsAddress(client: Client, before: Pod): Promise<boolean> {
  const path = PODS.object(before.metadata);
  const fresh = await client.request<Pod>({ method: 'GET', path }).catch(ignoreNotFound);
  const isSame = fresh?.metadata.uid === before.metadata.uid;
  return isSame && fresh.status?.podIP === before.status?.podIP;
}

function changed(what: string): SignerError {
  return new SignerError({
    code: 'POD_CHANGED',
    disposition: 'retry',
    message: messages.podChanged(what),
  });
}

/** Lets the API server answer from its cache, without etcd, with a version that may be stale. */
const ANY_VERSION = { resourceVersion: '0' };

/**
 * Reads the pod of a request.
 *
 * @param from - `cache` only for reads that {@link createConfirm} verifies before a write
 */
export function readPod(
  client: Client,
  reference: Pick<Metadata, 'name' | 'namespace'>,
  from: 'cache' | 'etcd',
): Promise<Pod | undefined> {
  const path = PODS.object({ name: reference.name, namespace: reference.namespace });
  const version = from === 'cache' ? { query: ANY_VERSION } : {};
  return client.request<Pod>({ method: 'GET', path, ...version }).catch(ignoreNotFound);
}
