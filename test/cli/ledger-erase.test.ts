// SPDX-License-Identifier: Apache-2.0
/** `countersign ledger erase` against an API server that has the records. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { stringify } from 'yaml';
import { countersign } from '../support/cluster/countersign.ts';
import { startScriptedServer } from '../support/kube/scripted-server.ts';

const RECORD = {
  metadata: { name: '1-42', creationTimestamp: '2026-11-22T13:30:00Z' },
  appended: { at: '2026-11-22T13:30:00Z', by: 'signer' },
  record: { kind: 'erased' },
};

/** Removes record 1-42 by the command. Returns the `spec` of the Erasure that the server gets. */
async function erasureBy(t: TestContext, ...flags: readonly string[]): Promise<unknown> {
  const server = await startScriptedServer();
  const home = mkdtempSync(join(tmpdir(), 'erase-'));
  t.after(async () => {
    rmSync(home, { recursive: true });
    await server.stop();
  });
  server.always(({ method, body, answer }) => {
    answer(200, method === 'POST' ? JSON.parse(body) : RECORD);
  });
  const kubeconfig = join(home, 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'none' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(kubeconfig, stringify(config));
  const args = ['ledger', 'erase', '1-42', '--yes', ...flags, '--kubeconfig', kubeconfig];
  const { code, stderr } = await countersign(args);
  assert.equal(code, 0, stderr);
  const { body = '{}' } = server.calls.find(({ method }) => method === 'POST') ?? {};
  return (JSON.parse(body) as { spec?: unknown }).spec;
}

test('erase removes records of valid certificates only with --include-valid', async (t) => {
  assert.deepEqual(await erasureBy(t), { records: ['1-42'] });
  assert.deepEqual(await erasureBy(t, '--include-valid'), { records: ['1-42'], living: true });
});
