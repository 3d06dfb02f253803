// SPDX-License-Identifier: Apache-2.0
import { CHALLENGES, isToBePresented, type Challenge } from '../../api/acme/index.ts';
import { keyOf } from '../../api/object/object.ts';
import { resource } from '../../kube/resource/resource.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import type { KeyTable, ServedKey } from './key-table.ts';
import { permissions } from './permissions.ts';

export { KeyTable } from './key-table.ts';

const RESOURCE = resource(CHALLENGES);

/**
 * Fills the table of files from the Challenges of HTTP-01 that are to be presented. Each replica has them all: no Lease,
 * no writes.
 *
 * @param mayProve - whether Challenges of these signers may prove the name by HTTP-01
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
      // A watch that broke leaves what was known: a CA that asks for it is answered.
      return synced ? [] : [`Challenges: ${failure ?? 'not listed yet'}`];
    },
    warnings: () => (challenges.failure === undefined ? [] : [`Challenges: ${challenges.failure}`]),
    run: (signal) => challenges.run(signal),
  };
}

/** The API server has checked the spec by the CRD; only the status can be missing. */
function isServed(challenge: Challenge): boolean {
  const { spec, status } = challenge as Partial<Challenge>;
  if (spec?.token === undefined || spec.key === undefined || status === undefined) return false;
  return isToBePresented(challenge);
}

/** What is served, and no more: the status of a thousand Challenges would be megabytes. */
function reduced({ apiVersion, kind, metadata, spec }: Challenge): Challenge {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const named = namespace === undefined ? { name } : { name, namespace };
  const kept = { ...named, uid, resourceVersion, creationTimestamp };
  return { apiVersion, kind, metadata: kept, spec, status: {} };
}

function servedOf({ metadata, spec: { token = '', key = '', dnsName } }: Challenge): ServedKey {
  return { challenge: keyOf(metadata), token, key, dnsName: dnsName.toLowerCase() };
}
