// SPDX-License-Identifier: Apache-2.0
/**
 * `refresh: restart` in pods that run. It takes eight minutes, six of which pass before a renewal
 * can be told: a long form.
 */
import { after, before, describe, test } from 'node:test';
import { installByOperator } from './operated.ts';
import {
  enableRefresher,
  restartsForCredentials,
  restartsOnce,
  stayedRestartedOnce,
} from './refreshed.ts';
import { createSigners } from './shipped.ts';
import { SKIP, openStand, type Stand } from './stand.ts';

describe('credentials that the kubelet rewrites', { skip: SKIP }, () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand({});
    await installByOperator(stand.cluster);
    await createSigners(stand.cluster, ['workload', 'people']);
    await enableRefresher(stand.cluster);
  });
  after(() => stand.remove());

  test('a renewal restarts a workload once only if it cannot reload its credentials', () =>
    restartsForCredentials(stand.cluster));

  test('both stay so while others are restarted', async () => {
    await restartsOnce(stand.cluster);
    await stayedRestartedOnce(stand.cluster);
  });
});
