// SPDX-License-Identifier: Apache-2.0
/** How a Challenge ends: by the last finalizer, by a word on what is left, or because its key is of the past. */
import { presentedValue } from '../../../acme-issuing/index.ts';
import {
  CHALLENGES,
  CLEAN_UP_FINALIZER,
  readChallengeObject,
  type Challenge,
} from '../../../api/acme/index.ts';
import { keyOf, type KubeObject } from '../../../api/object/object.ts';
import { ignoreNotFound } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';
import type { AcmeContext, CallRight } from '../context.ts';

const PATHS = resource(CHALLENGES);

/**
 * Whether it was made for a key that the account has no more: what it presents proves nothing (RFC 8555 §8.1), and the CA
 * would end the authorization.
 */
export function isOfOldKey({ spec }: Challenge, right: CallRight): boolean {
  if ('heldBack' in right || spec.type === 'dns-persist-01' || spec.key === undefined) return false;
  return presentedValue(right.session, spec.type, spec) !== spec.key;
}

/**
 * Deletes it; its Order makes another one of the same authorization. By its name in the collection: `deletecollection` is
 * the right that there is for all Challenges of an Order.
 */
export async function startOver(
  { component }: Pick<AcmeContext, 'component'>,
  { metadata }: Challenge,
): Promise<void> {
  const { client, log } = component;
  const { name, namespace, uid } = metadata;
  log.info({ challenge: keyOf(metadata) }, 'the account has a new key, another Challenge is made');
  await client.request({
    ...{ method: 'DELETE', path: PATHS.collection(namespace) },
    query: { fieldSelector: `metadata.name=${name}` },
    body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
  });
}

/** Takes our finalizer away from one that is deleted. */
export async function letGo(
  { component, challenges }: Pick<AcmeContext, 'component' | 'challenges'>,
  challenge: Challenge,
): Promise<void> {
  const finalizers = finalizersOf(challenge);
  if (!finalizers.includes(CLEAN_UP_FINALIZER)) return;
  const rest = finalizers.filter((each) => each !== CLEAN_UP_FINALIZER);
  const { metadata } = challenge;
  const { resourceVersion, uid } = metadata;
  const body = { metadata: { uid, resourceVersion, finalizers: rest } };
  const changed = await component.client
    .request<KubeObject>({
      ...{ method: 'PATCH', path: PATHS.object(metadata), body },
      contentType: 'application/merge-patch+json',
    })
    .catch(ignoreNotFound);
  // The last finalizer takes the object with it: the watch says so.
  if (changed !== undefined && rest.length > 0) challenges.applyWrite(readChallengeObject(changed));
}

/** Says that a record or route stays where it is. */
export function reportLeft({ component }: Pick<AcmeContext, 'component'>, left: Challenge): void {
  const { apiVersion, kind, metadata, spec, status } = left;
  const { name, namespace = '', uid } = metadata;
  const why = status.solver?.message ?? 'the component acme-solver has not answered';
  component.events.record({
    regarding: { apiVersion, kind, name, namespace, uid },
    ...{ type: 'Warning', reason: 'CleanUpGivenUp', action: 'CleanUp' },
    note: `what proved ${spec.dnsName} by solver ${spec.solver} was not removed within ten minutes, remove it yourself: ${why}`,
  });
}

/** The metadata of objects that came as JSON has them. */
export function finalizersOf({ metadata }: Challenge): readonly string[] {
  return (metadata as { readonly finalizers?: readonly string[] }).finalizers ?? [];
}
