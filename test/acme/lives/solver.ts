// SPDX-License-Identifier: Apache-2.0
/** In the place of acme-solver: values of DNS-01 in Pebble's own DNS server. */
import { isToBePresented, readChallengeObject, type Challenge } from '#api/acme/challenge.ts';
import { CHALLENGES } from '#api/acme/names.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { delay, random } from '#app/process.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { TxtRecords } from '../lived-order.ts';
import type { Pebble } from '../pebble.ts';

const PATHS = resource(CHALLENGES);

/** Presents and removes until `signal` is aborted. */
export function solveByDns(client: Client, pebble: Pebble, signal: AbortSignal): TxtRecords {
  const records = new TxtRecords(pebble);
  const latest = new Map<string, KubeObject>();
  let work = Promise.resolve();
  // Whoever waits for its turn is solved as it is then, not as it was.
  const solveLatest = async (key: string): Promise<void> => {
    const now = latest.get(key);
    latest.delete(key);
    if (now !== undefined) await solve(client, records, readChallengeObject(now), signal);
  };
  const reflector = createReflector<KubeObject>({
    ...recordedComponent({ client, clock: Date.now, delay, random }),
    path: PATHS.collection(),
    onEvent: (key, now) => {
      if (now === undefined) return;
      latest.set(key, now);
      work = work.then(() => solveLatest(key));
    },
  });
  void reflector.run(signal);
  return records;
}

async function solve(
  client: Client,
  records: TxtRecords,
  challenge: Challenge,
  signal: AbortSignal,
): Promise<void> {
  const { metadata, spec, status } = challenge;
  const wanted = isToBePresented(challenge);
  if (wanted === (status.solver?.presented === true)) return;
  const name = `_acme-challenge.${spec.dnsName}`;
  const change = wanted ? records.add(name, spec.key ?? '') : records.remove(name, spec.key ?? '');
  await change;
  const solver = { presented: wanted, changedAt: new Date().toISOString() };
  const patch = {
    method: 'PATCH' as const,
    path: PATHS.object(metadata, 'status'),
    contentType: 'application/merge-patch+json',
    body: { metadata: { uid: metadata.uid }, status: { solver } },
  } as const;
  // What was changed and not said is waited for until the test ends.
  for (let isSaid = false; !isSaid && !signal.aborted;)
    isSaid = await client.request(patch).then(
      () => true,
      (error: unknown) => isGone(error),
    );
}

/** Also another of the same name. */
function isGone(error: unknown): boolean {
  return error instanceof KubeError && [404, 409].includes(error.status);
}
