// SPDX-License-Identifier: Apache-2.0
import { isToBePresented, type Challenge } from '#api/acme/challenge.ts';
import { CHALLENGES } from '#api/acme/names.ts';
import { keyOf } from '#api/object/object.ts';
import { resource } from '#kube/resource/resource.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import type { Component, Controller } from '#component/contract.ts';
import type { KeyTable, ServedKey } from './key-table.ts';
import { permissions } from './permissions.ts';
import * as messages from './messages.ts';

export { KeyTable } from './key-table.ts';

const RESOURCE = resource(CHALLENGES);

/**
 * Keeps the table of files equal to the HTTP-01 Challenges to present. Each replica has all of
 * them, without a Lease and without writes.
 *
 * @param mayProve - reports whether HTTP-01 may prove the name for the Challenge's signer
 */
export function createAcmeResponder(
  component: Component,
  table: KeyTable,
  mayProve: (challenge: Challenge) => boolean,
): Controller {
  const challenges = createReflector<Challenge>({
    ...component,
    path: RESOURCE.collection(),
    fieldSelector: 'spec.type=http-01',
    keep: (challenge) => isServed(challenge) && mayProve(challenge),
    transform: reduced,
    onEvent: (_key, now, before) => {
      if (before !== undefined) table.remove(servedOf(before));
      if (now !== undefined) table.put(servedOf(now));
    },
  });
  table.isComplete = () => challenges.synced;
  return {
    permissions,
    notReady: () => {
      const { synced, failure } = challenges;
      // A broken watch keeps its objects, so the CA still gets answers.
      return synced ? [] : [messages.unlisted(failure)];
    },
    warnings: () =>
      challenges.failure === undefined ? [] : [messages.brokenWatch(challenges.failure)],
    run: (signal) => challenges.run(signal),
  };
}

/**
 * Reports whether the Challenge has a file to serve. The CRD has validated the spec, so only the
 * status can be missing.
 */
function isServed(challenge: Challenge): boolean {
  // The watch's type describes a valid Challenge.
  const { spec, status } = challenge as Partial<Challenge>;
  if (spec?.token === undefined || spec.key === undefined || status === undefined) return false;
  return isToBePresented(challenge);
}

/** Returns only the served fields. The statuses of a thousand Challenges would take megabytes. */
function reduced({ apiVersion, kind, metadata, spec }: Challenge): Challenge {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const named = namespace === undefined ? { name } : { name, namespace };
  const kept = { ...named, uid, resourceVersion, creationTimestamp };
  return { apiVersion, kind, metadata: kept, spec, status: {} };
}

function servedOf({ metadata, spec: { token = '', key = '', dnsName } }: Challenge): ServedKey {
  return { challenge: keyOf(metadata), token, key, dnsName: dnsName.toLowerCase() };
}
