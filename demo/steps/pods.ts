// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { until } from '../../test/cluster/until.ts';
import { createTeam } from '../../test/support/cluster/pods.ts';
import { TEAM, WORKLOADS, spiffe, type Cast, type Workloads } from '../cast/cast.ts';
import type { Tell } from '../story.ts';

const WAIT_MS = 10_000;

/** Three pods on two nodes get their credentials through real projections. */
export async function credentials(cast: Cast, strangers: string, tell: Tell): Promise<Workloads> {
  await createTeam(
    cast.cluster,
    TEAM,
    WORKLOADS.map(({ name }) => name),
  );
  return cast.workloads(strangers, tell);
}

/** Workloads speak mutual TLS by their own files, each seeing the other's identity. */
export async function mutualTls(workloads: Workloads, tell: Tell): Promise<void> {
  const api = await workloads.talk('api', spiffe('web'));
  assert.deepEqual(api, { server: `URI:${spiffe('web')}`, heard: `hello, URI:${spiffe('api')}` });
  tell(`api sees ${api.server}; web answers "${api.heard}"`);

  const batch = await workloads.talk('batch', spiffe('web'));
  assert.equal(batch.heard, `hello, URI:${spiffe('batch')}`);
  tell(`batch is somebody else to web: "${batch.heard}"`);

  const wrong = await workloads.talk('api', spiffe('batch'));
  assert.match(wrong.refused ?? '', /the server is/);
  tell(`api wants to speak to batch and notices: ${wrong.refused ?? ''}`);

  const foreign = await workloads.talk('stranger', spiffe('web'));
  assert.equal(foreign.heard, undefined);
  const refusal = await until('the server tells of it', WAIT_MS, async () =>
    (await workloads.seen()).find(({ refused }) => refused !== undefined),
  );
  tell(`a certificate of another CA is refused by the server: ${refusal.refused ?? ''}`);
}
