// SPDX-License-Identifier: Apache-2.0
/** The hostile tenant as a process of its own, until SIGTERM: `node flood.ts <kubeconfig>`. */
import { createClient } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { flood } from '../../test/support/cluster/hostile-tenant.ts';
import { newStubs } from '../requests/backlog.ts';

const [, , kubeconfig = ''] = process.argv;
const STUBS = 64;

const end = new AbortController();
process.once('SIGTERM', () => {
  end.abort();
});
const connection = await loadConnection({ kubeconfig, clock: Date.now });
const clocks = { clock: Date.now, monotonic: () => performance.now() };
const client = createClient({ connection, ...clocks, userAgent: 'countersign-bench-flood' });
console.log(JSON.stringify(await flood(client, newStubs(STUBS), end.signal)));
await client.close();
