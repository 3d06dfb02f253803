// SPDX-License-Identifier: Apache-2.0
/** Sockets of one key holder, of which a component that is taken over floods one. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyHolder } from '#ca/custody/holder-client.ts';
import { createHolderServer } from '#cli/commands/key-holder/server.ts';
import type { SocketSigner } from '#cli/commands/key-holder/signer.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';

const JUDGING_MS = 10;
const FLOOD = 40;

test('a flood over one socket delays a signature over another by a few judgements', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holder-server-'));
  const judged: string[] = [];
  const open = async (name: string) => {
    const signer: SocketSigner = {
      describe: () => undefined,
      sign: () => {
        judged.push(name);
        const until = performance.now() + JUDGING_MS;
        while (performance.now() < until);
        return { signature: Promise.resolve(Buffer.from(name)) };
      },
    };
    const served = createHolderServer(signer, recordedLog());
    served.server.listen(join(folder, name));
    await once(served.server, 'listening');
    const client = createKeyHolder({
      socket: join(folder, name),
      monotonic: () => performance.now(),
      delay: async (ms) => {
        await sleep(ms);
      },
    });
    return { served, client };
  };
  const [flooded, quiet] = [await open('flooded'), await open('quiet')];
  try {
    for (const { client } of [quiet, flooded]) {
      await client.sign('workload', 'leaf', Buffer.from('connected'));
    }
    judged.length = 0;
    const flood = Array.from({ length: FLOOD }, (_, index) =>
      flooded.client.sign('workload', 'leaf', Buffer.from(`${index}`)),
    );
    await quiet.client.sign('workload', 'leaf', Buffer.from('one'));
    const before = judged.lastIndexOf('quiet');
    await Promise.all(flood);
    assert.ok(before < FLOOD / 4, `${before} judgements came first`);
    assert.equal(judged.filter((each) => each === 'flooded').length, FLOOD);
  } finally {
    for (const each of [flooded, quiet]) each.client.stop();
    await Promise.all([flooded.served.close(), quiet.served.close()]);
    rmSync(folder, { recursive: true });
  }
});
