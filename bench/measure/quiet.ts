// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { cpuTimeOf } from './cpu-time.ts';

const LOOK_MS = 500;
/** Of one core. */
const IDLE_SHARE = 0.1;
const PATIENCE_LOOKS = 60;

/**
 * Resolves when the API server and etcd have done what the creation of a backlog left them to do.
 */
export async function untilQuiet({ apiServer, etcd }: Cluster): Promise<void> {
  const spent = (): number =>
    [apiServer, etcd].reduce((sum, { pid }) => sum + (cpuTimeOf(pid ?? 0) ?? 0), 0);
  for (let look = 0; look < PATIENCE_LOOKS; look++) {
    const before = spent();
    await delay(LOOK_MS);
    if (spent() - before < LOOK_MS * 1000 * IDLE_SHARE) return;
  }
  throw new Error('the API server and etcd do not become quiet');
}
