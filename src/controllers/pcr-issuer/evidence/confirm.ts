// SPDX-License-Identifier: Apache-2.0
import {
  ACCEPT_METADATA,
  readPartialObjectMetadata,
  type KubeObject,
} from '../../../api/object/object.ts';
import type { Pod } from '../../../api/object/pod.ts';
import { isHeadless, selectsLabels, type Service } from '../../../api/object/service.ts';
import { SignerError } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { ignoreNotFound } from '../../../kube/client/kube-error.ts';
import { PODS, SERVICES } from '../../../kube/resource/core-v1.ts';
import { labelsText, type Proof } from './evidence.ts';
import { shareReads } from './shared-reads.ts';

/**
 * Looks once more, at the API server and not at a cache, whether the pod and the Services of a leaf are those that it was
 * decided by: the same objects, the same labels, still selecting. What a change between this look and the write does is
 * seen at the next renewal only.
 *
 * @returns what has changed; undefined: nothing that matters
 * @throws KubeError if one of them cannot be read
 */
export type Confirm = (proof: Proof) => Promise<SignerError | undefined>;

/** Leaves of the pods of one Service, which a rollout makes at once, share the reads of it. */
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

/** What is there now under the names of a proof; undefined: nothing. */
interface Now {
  readonly pod: Metadata | undefined;
  readonly services: readonly (Metadata | undefined)[];
}

async function judge(client: Client, proof: Proof, now: Now): Promise<SignerError | undefined> {
  const pod = same(proof.pod, now.pod);
  if (pod === undefined) return changed('the pod is gone');
  const { labels } = pod;
  if (labelsText(labels, proof.labels) !== labelsText(proof.pod.metadata.labels, proof.labels))
    return changed('a label of the pod has another value');
  const isOther = pod.resourceVersion !== proof.pod.metadata.resourceVersion;
  if (proof.hasAddress && isOther && !(await keepsAddress(client, proof.pod)))
    return changed('the pod has another address');
  for (const [index, before] of proof.services.entries()) {
    const after = await current(client, before, same(before, now.services[index]));
    const name = before.metadata.name;
    if (after === undefined) return changed(`Service ${name} is gone`);
    if (!selectsLabels(after, labels)) return changed(`Service ${name} does not select the pod`);
    if (isHeadless(after) !== isHeadless(before))
      return changed(`Service ${name} is of another kind`);
  }
  return undefined;
}

type Metadata = KubeObject['metadata'];

/** @returns undefined where nothing is there */
async function readMetadata(client: Client, path: string): Promise<Metadata | undefined> {
  const found = await client
    .request<{ readonly metadata: Metadata }>({
      ...{ method: 'GET', path },
      ...{ accept: ACCEPT_METADATA, read: readPartialObjectMetadata },
    })
    .catch(ignoreNotFound);
  return found?.metadata;
}

/** What is there now, if it is the same object. */
function same({ metadata }: KubeObject, now: Metadata | undefined): Metadata | undefined {
  return now?.uid === metadata.uid ? now : undefined;
}

/** The Service as it is now: as it was, where its resourceVersion is the same. */
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
    message: `${what} since its certificate was signed; that one is dropped, and the request is decided anew`,
  });
}

/** A version that the API server answers from its cache, without etcd: it may be older than what is stored. */
const ANY_VERSION = { resourceVersion: '0' };

/**
 * Reads the pod of a request.
 *
 * @param from - `cache`: what a write is not to depend on before {@link createConfirm} has looked
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
