// SPDX-License-Identifier: Apache-2.0
/** docs/reference/ledger-api.md says what the code does. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { failure } from '#ledger/ledger/api/answer.ts';
import { discovery } from '#ledger/ledger/api/discovery.ts';
import { parseFieldSelector } from '#ledger/ledger/api/selector.ts';
import { CHECKPOINTS } from '#ledger/ledger/objects.ts';
import {
  APPEND_AUDIENCE,
  APPEND_PATH,
  MAX_BATCH_BYTES,
  noteSigner,
  signLogList,
} from '#ledger/index.ts';
import { OWN_TLS_CONFIG_MAP } from '#api/signer/own-tls.ts';

const page = readFileSync(
  join(import.meta.dirname, '../../../docs/reference/ledger-api.md'),
  'utf8',
);

/** The cells of the rows of the table that has this first heading. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const lines = page.split('\n');
  const from = lines.findIndex(
    (line) => line.startsWith('|') && line.split('|')[1]?.replaceAll('`', '').trim() === heading,
  );
  assert.ok(from >= 0, heading);
  const end = lines.findIndex((line, at) => at > from && !line.startsWith('|'));
  return lines.slice(from + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

/** What a fault offers: `… use a, b or c`. */
function offered(selector: string): readonly string[] {
  const asked = parseFieldSelector(selector, { now: 0 });
  assert.ok('fault' in asked);
  const [, list = ''] = /use (?:one of )?(.*)$/.exec(asked.fault) ?? [];
  return list.split(/, | or /);
}

test('the resources and their verbs are those of discovery', () => {
  const { body = '' } = discovery('/apis/ledger.countersign.dev/v1alpha1') ?? {};
  const { resources } = JSON.parse(String(body)) as {
    resources: { name: string; namespaced: boolean; verbs: string[] }[];
  };
  assert.deepEqual(
    rowsOf('Resource').map((row) => row.slice(0, 3)),
    resources.map(({ name, namespaced, verbs }) => [
      name,
      namespaced ? 'yes' : 'no',
      verbs.join(', '),
    ]),
  );
});

test('the fields of selectors, and the kinds, are those that a search knows', () => {
  const fields = rowsOf('Field').map(([field]) => field);
  assert.deepEqual([...fields].sort(), [...offered('nothing=x')].sort());
  const kinds = rowsOf('Kind of record').map(([kind]) => kind);
  assert.deepEqual([...kinds, 'any'], offered('kind=nothing'));
});

test('each code of an error has the reason that clients read', () => {
  for (const [code, reason] of rowsOf('Code')) {
    const { body } = failure(Number(code), 'x');
    assert.equal((JSON.parse(String(body)) as { reason: string }).reason, reason);
  }
});

test('the append protocol has the path, the audience and the limits of the code', () => {
  for (const text of [
    `POST ${APPEND_PATH} HTTP/1.1`,
    `audience ${APPEND_AUDIENCE}>`,
    `${MAX_BATCH_BYTES} bytes`,
    `ConfigMap \`${OWN_TLS_CONFIG_MAP}\``,
    `ConfigMap \`${CHECKPOINTS}\``,
  ])
    assert.ok(page.includes(text), text);
});

test('the list of logs has the first line that the page says', () => {
  const signer = noteSigner('a', generateKeyPairSync('ed25519').privateKey);
  const [header = ''] = signLogList([{ verifier: signer }], [signer]).split('\n');
  assert.ok(page.includes(`\`${header}\``), header);
});

test('each row of the threat table names existing tests, or says it is argued', () => {
  const root = join(import.meta.dirname, '../../..');
  const explained = readFileSync(join(root, 'docs/explanation/ledger.md'), 'utf8');
  const rows = explained.split('\n').filter((line) => /^\| .*(?:argued: |`test\/)/.test(line));
  assert.ok(rows.length > 12, `${rows.length}`);
  for (const row of rows) {
    const named = row.match(/`test\/[^`]+`/g) ?? [];
    assert.ok(named.length > 0 || /\| argued: \S+/.test(row), row);
    for (const each of named) assert.ok(existsSync(join(root, each.replaceAll('`', ''))), each);
  }
  const [, table = ''] = /## Who can hide what, from whom\n([^]*?)\n## /.exec(explained) ?? [];
  const inTable = table.split('\n').filter((line) => line.startsWith('|')).length;
  assert.equal(rows.length, inTable - 2, 'a row without a test says argued');
});
