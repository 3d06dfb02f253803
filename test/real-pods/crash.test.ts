// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { until } from '../cluster/until.ts';
import { SKIP } from './stand.ts';

const LAUNCHER = `
  import { create, nodePod, openStand, untilReady } from ${JSON.stringify(join(import.meta.dirname, 'stand.ts'))};
  const { cluster } = await openStand({ nodes: 1 });
  await create(cluster, nodePod('victim', 'setInterval(() => undefined, 1e6)'));
  await untilReady(cluster, 'victim');
  const { readFileSync } = await import('node:fs');
  console.log(readFileSync(cluster.directory + '/podhost/network', 'utf8'));
  console.log(cluster.nodes[0].pid);
  setInterval(() => undefined, 1e6);`;

test(
  'a test run that is killed leaves no pod, no network and no kubelet behind',
  { skip: SKIP },
  async () => {
    const launcher = spawn(process.execPath, ['--input-type=module', '-e', LAUNCHER], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: launcher.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<string> => String((await lines.next()).value);
    const [network, kubelet] = [await next(), await next()];
    assert.ok(existsSync(network), network);
    launcher.kill('SIGKILL');
    await once(launcher, 'exit');
    // The namespace's path is that of its first process, with which all others end.
    for (const path of [network, `/proc/${kubelet}`])
      await until(`${path} is gone`, 30_000, () => !existsSync(path));
  },
);
