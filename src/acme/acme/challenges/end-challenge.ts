// SPDX-License-Identifier: Apache-2.0
/**
 * Ends of a Challenge: removal of the finalizer, an Event about leftovers, or deletion after a key
 * change.
 */
import { presentedValue } from '#acme/issuing/index.ts';
import { readChallengeObject, type Challenge } from '#api/acme/challenge.ts';
import { CHALLENGES, CLEAN_UP_FINALIZER } from '#api/acme/names.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import type { AcmeContext, CallRight } from '../context.ts';
import type { HeldChallenge } from '../store/leader-state.ts';
import * as messages from '../messages.ts';

const PATHS = resource(CHALLENGES);

/**
 * Reports whether the Challenge has a former key of the account. Its value proves nothing (RFC 8555
 * §8.1), and the CA would end the authorization.
 */
export function isOfOldKey({ spec }: Challenge, right: CallRight): boolean {
  if ('deferral' in right || spec.type === 'dns-persist-01' || spec.key === undefined) return false;
  return presentedValue(right.session, spec.type, spec) !== spec.key;
}

/**
 * Deletes the Challenge. Its Order creates another one for the same authorization. The call selects
 * the name in the collection, because the role permits only `deletecollection`.
 */
export async function startOver(
  { component }: Pick<AcmeContext, 'component'>,
  { metadata }: Challenge,
): Promise<void> {
  const { client, log } = component;
  const { name, namespace, uid } = metadata;
  log.info({ challenge: keyOf(metadata) }, messages.CHALLENGE_RESTARTED);
  await client.request({
    method: 'DELETE',
    path: PATHS.collection(namespace),
    query: { fieldSelector: `metadata.name=${name}` },
    body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
  });
}

/** Removes our finalizer from a deleted Challenge. */
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
      method: 'PATCH',
      path: PATHS.object(metadata),
      body,
      contentType: 'application/merge-patch+json',
    })
    .catch(ignoreNotFound);
  // The removal of the last finalizer deletes the object, and the watch delivers it.
  if (changed !== undefined && rest.length > 0) challenges.applyWrite(readChallengeObject(changed));
}

/** Reports once that a record or route remains. */
export function reportLeft(
  { component }: Pick<AcmeContext, 'component'>,
  left: Challenge,
  held: HeldChallenge,
): void {
  if (held.isLeft === true) return;
  held.isLeft = true;
  const { apiVersion, kind, metadata, spec, status } = left;
  const { name, namespace = '', uid } = metadata;
  const why = status.solver?.message ?? messages.SOLVER_SILENT_SO_FAR;
  component.events.record({
    regarding: { apiVersion, kind, name, namespace, uid },
    type: 'Warning',
    reason: 'CleanupTimedOut',
    action: 'CleanUp',
    note: messages.notRemoved(spec.dnsName, spec.solver, why),
  });
}

export function finalizersOf({ metadata }: Challenge): readonly string[] {
  return metadata.finalizers ?? [];
}
