// SPDX-License-Identifier: Apache-2.0
/** In the place of acme-solver: values of DNS-01 in Pebble's own DNS server. */
import {
  CHALLENGES,
  isToBePresented,
  readChallengeObject,
  type Challenge,
} from '../../../src/api/acme/index.ts';
import type { KubeObject } from '../../../src/api/object/object.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { resource } from '../../../src/kube/resource/resource.ts';
import { createReflector } from '../../../src/kube/watch/reflector.ts';
import { delay, random } from '../../../src/app/process.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { TxtRecords } from '../lived-order.ts';
import type { Pebble } from '../pebble.ts';

const PATHS = resource(CHALLENGES);

/** Presents and removes until `signal` is aborted. */
export function solveByDns(client: Client, pebble: Pebble, signal: AbortSignal): TxtRecords {
  const records = new TxtRecords(pebble);
  let work = Promise.resolve();
  const reflector = createReflector<KubeObject>({
    ...recordedComponent({ client, clock: Date.now, delay, random }),
    path: PATHS.collection(),
    onEvent: (_key, now) => {
      if (now !== undefined)
        work = work.then(() => solve(client, records, readChallengeObject(now)));
    },
  });
  void reflector.run(signal);
  return records;
}

async function solve(client: Client, records: TxtRecords, challenge: Challenge): Promise<void> {
  const { metadata, spec, status } = challenge;
  const wanted = isToBePresented(challenge);
  if (wanted === (status.solver?.presented === true)) return;
  const name = `_acme-challenge.${spec.dnsName}`;
  const change = wanted ? records.add(name, spec.key ?? '') : records.remove(name, spec.key ?? '');
  await change;
  const solver = { presented: wanted, changedAt: new Date().toISOString() };
  await client
    .request({
      ...{ method: 'PATCH', path: PATHS.object(metadata, 'status') },
      contentType: 'application/merge-patch+json',
      body: { metadata: { uid: metadata.uid }, status: { solver } },
    })
    .catch(() => undefined);
}
