// SPDX-License-Identifier: Apache-2.0
/** What is published of checkpoints inside the cluster. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { RequestInit } from '#kube/client/request.ts';
import {
  compareWithPublished,
  publishCheckpoints,
  publishCosigned,
  signCheckpoints,
  type PublishedCheckpoints,
} from '#ledger/ledger/checkpoints.ts';
import { noteSigner, openSqlite, openStore } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { issuedBatch, NOW, PREFIX } from '../../support/ledger/records.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-checkpoints-'));
after(() => rmSync(root, { recursive: true, force: true }));

test('publishes a checkpoint with witness lines beside the last and compares both', async () => {
  const store = await openStore(openSqlite(join(root, 'ledger.db')));
  const data: Record<string, string> = {};
  const component = recordedComponent();
  const client = {
    ...component.client,
    request: ((asked: RequestInit) => {
      const { data: patched = {} } = (asked.body ?? {}) as { data?: Record<string, string> };
      Object.assign(data, patched);
      return Promise.resolve({ data });
    }) as typeof component.client.request,
  };
  const init = { component: { ...component, client }, store, namespace: 'countersign-system' };
  const { privateKey } = generateKeyPairSync('ed25519');
  const { publicKey } = noteSigner(PREFIX, privateKey);
  const naming = { prefix: PREFIX, publicKey };
  const key = { keys: [privateKey] as const, publicKey };
  const publish = async (before: PublishedCheckpoints): Promise<PublishedCheckpoints> =>
    publishCheckpoints(init, key, await signCheckpoints(init, key, before), before);
  let published: PublishedCheckpoints = new Map();
  await store.append(issuedBatch(0, 3), { naming, now: NOW });
  published = await publish(published);
  const line = '— witness.example AAAAAGNvc2lnbmVk\n';
  await store.cosign({ log: 1, size: 3 }, line);
  // The log grows before the line is there.
  await store.append(issuedBatch(3, 5), { naming, now: NOW });
  await publish(published);
  await publishCosigned(init, { log: 1, size: 3 });
  assert.deepEqual(Object.keys(data).sort(), ['cosigned-1', 'log-1', 'logs']);
  assert.equal(data['log-1']?.split('\n')[1], '5');
  assert.equal(data['cosigned-1']?.split('\n')[1], '3');
  assert.ok(data['cosigned-1'].endsWith(line));
  await compareWithPublished(init);
  const empty = await openStore(openSqlite(join(root, 'empty.db')));
  delete data['log-1'];
  await assert.rejects(compareWithPublished({ ...init, store: empty }), /unknown log/);
  await Promise.all([store, empty].map((each) => each.close()));
});
