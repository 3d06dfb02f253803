// SPDX-License-Identifier: Apache-2.0
/** `countersign ledger verify-proof` takes a file and a key, and no cluster. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openSqlite } from '#ledger/database/sqlite.ts';
import { formatVerifierKey } from '#ledger/log/note.ts';
import { formatProof } from '#ledger/log/prove.ts';
import { idOf } from '#ledger/records/ids.ts';
import { openStore } from '#ledger/store/store.ts';
import { countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { issuedBatch, NOW, PREFIX } from '../support/ledger/records.ts';
import { signed, signerOf, signHeads } from '../support/ledger/store-laws.ts';

const KEY = formatVerifierKey(signerOf(`${PREFIX}/2026`));

let directory: string;
let proof: string;
let extra: Uint8Array;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-proof-'));
  const store = await openStore(openSqlite(join(directory, 'ledger.db')));
  await store.append(issuedBatch(0, 12), { naming: signed, now: NOW });
  await signHeads(store);
  const proved = (await store.prove(idOf({ log: 1, index: 7 }))) ?? assert.fail();
  await store.close();
  proof = formatProof(proved);
  extra = proved.extra ?? assert.fail();
});
after(() => {
  rmSync(directory, { recursive: true, force: true });
});

function verify(text: string, ...flags: readonly string[]): Promise<CommandResult> {
  const file = join(directory, 'record.tlog-proof');
  writeFileSync(file, text);
  return countersign(['ledger', 'verify-proof', file, ...flags]);
}

test('a proof of the ledger is verified, and the record is printed', async () => {
  const { code, stdout, stderr } = await verify(proof, '--key', KEY);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^proved: entry 7 of 12 of the log [^\n]*\n\{.*"pod-7"/);
  const asJson = await verify(proof, '--key', KEY, '-o', 'json');
  assert.equal((JSON.parse(asJson.stdout) as { readonly index: number }).index, 7);
});

test('exits 3 for another record, and reports an error without the log’s key', async () => {
  const encoded = Buffer.from(extra).toString('base64');
  const other = Buffer.from(
    Buffer.from(extra).toString('latin1').replace('pod-7', 'pod-8'),
    'latin1',
  );
  assert.notDeepEqual(other, Buffer.from(extra));
  const changed = proof.replace(encoded, other.toString('base64'));
  const forged = await verify(changed, '--key', KEY);
  assert.equal(forged.code, 3, forged.stderr);
  assert.match(forged.stdout, /^not proved: .*another entry at index 7/);
  const foreign = await verify(proof, '--key', formatVerifierKey(signerOf('another.example/2026')));
  assert.deepEqual([foreign.code, foreign.stdout], [1, '']);
  const without = await verify(proof);
  assert.equal(without.code, 2);
});

test('a proof without its record takes what somebody kept', async () => {
  const kept = join(directory, 'kept');
  writeFileSync(kept, extra);
  const bare = proof.replace(/^extra .*\n/m, '');
  const { code, stderr } = await verify(bare, '--key', KEY, '--record', kept);
  assert.equal(code, 0, stderr);
  assert.equal((await verify(bare, '--key', KEY)).code, 1);
});
