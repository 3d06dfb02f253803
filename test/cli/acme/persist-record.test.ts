// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { provesPersistently } from '#acme/solving/dns01/persist.ts';
import type { AcmeSignerStatus } from '#api/acme/acme-signer.ts';
import { persistRecordOf } from '#cli/commands/acme/persist-record.ts';
import { acmeObject } from '../../api/acme/build.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';

const accountUrl = 'https://acme.example/acct/1';
const SHOWN = `_validation-persist.<name>. IN TXT "ca.example; accounturi=${accountUrl}"`;
const STATUS = { account: { url: accountUrl }, persistRecords: [SHOWN] };
const PERSIST = { solvers: [{ name: 'p', persist: {} }] };

function record(
  name: string,
  acme: Readonly<Record<string, unknown>> = PERSIST,
  status: AcmeSignerStatus = STATUS,
): Promise<string> {
  const client = recordedClient();
  client.answer(() => ({ ...acmeObject(acme, 'example.com/public'), status }));
  return persistRecordOf(client, 'public', name, {});
}

test('the record is the one that proves the name to the CA', async () => {
  for (const [name, wildcard] of [
    ['www.example.com', false],
    ['*.Example.com.', true],
  ] as const) {
    const line = await record(name);
    assert.match(line, /^_validation-persist\.(?:www\.)?example\.com\. IN TXT "/);
    const value = /"(.*)"/.exec(line)?.[1] ?? '';
    const proof = { accountUrl, issuers: ['ca.example'] };
    assert.equal(provesPersistently([value], wildcard, proof, Date.now()), true);
  }
});

test('what cannot be printed says why, and what to do', async () => {
  await assert.rejects(record('not a name'), /is not a DNS name/);
  await assert.rejects(record('a.example', {}), /no solver with persist; add one/);
  await assert.rejects(record('a.example', PERSIST, {}), /no account yet; see its condition Ready/);
});
