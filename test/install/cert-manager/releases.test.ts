// SPDX-License-Identifier: Apache-2.0
/** Laws over releases.json: what the operator accepts by itself, and where that comes from. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import list from '../../../build/cert-manager/sources.json' with { type: 'json' };
import { sumsOf } from '#install/cert-manager-operator/preflight.ts';
import { isConfirmed, RELEASES, type ReleaseRow } from '#install/cert-manager-operator/releases.ts';

const ROOT = join(import.meta.dirname, '../../..');
const ROWS = Object.entries(RELEASES.rows);
const SHA256 = /^[0-9a-f]{64}$/;

const source = (repository: string): ReleaseRow['sources'][number] => ({
  repository,
  commit: '0'.repeat(40),
  path: 'a',
});

test('a row is confirmed by three unrelated repositories, and by nothing less', () => {
  const rows = ROWS.map(([version, row]) => [version, row.state, row.sources] as const);
  for (const [version, state, sources] of rows)
    assert.equal(state, isConfirmed({ sources }) ? 'confirmed' : 'unconfirmed', version);
  const accepted = rows.filter(([, state]) => state === 'confirmed').map(([version]) => version);
  assert.deepEqual(Object.keys(sumsOf({ moreReleases: {}, dangerZone: false })), accepted);
  const of = (...names: readonly string[]): boolean => isConfirmed({ sources: names.map(source) });
  assert.equal(of('a/x', 'b/x', 'c/x'), true);
  assert.equal(of('a/x', 'b/x'), false);
  // One owner, or one repository twice, is one voice.
  assert.equal(of('a/x', 'b/x', 'b/y', 'B/z'), false);
  assert.equal(of('a/x', 'a/x', 'a/x'), false);
});

test('each source names a repository, a commit and a path', () => {
  for (const [version, { file, sum, sources }] of ROWS) {
    assert.match(file, SHA256, version);
    assert.match(sum, SHA256, version);
    for (const { repository, commit, path } of sources) {
      assert.match(repository, /^[\w-]+\/[\w.-]+$/, version);
      assert.match(commit, /^[0-9a-f]{40}$/, repository);
      assert.match(path, /^[^/].*[^/]$/, repository);
    }
  }
});

test('each row is made of the file that its sources name, and says of what objects', () => {
  const found: Readonly<Record<string, { readonly file?: string; readonly sources: unknown }>> =
    list;
  assert.deepEqual(
    Object.keys(found),
    ROWS.map(([version]) => version),
  );
  for (const [version, { file, sources, parts }] of ROWS) {
    assert.deepEqual(found[version]?.sources, sources, version);
    // The parts are known where a source vouches for the file.
    assert.equal(found[version].file, sources.length === 0 ? undefined : file, version);
    assert.equal(parts !== undefined, sources.length > 0, version);
  }
});

test('the how-to names each release with its state', () => {
  const page = readFileSync(join(ROOT, 'docs/how-to/operator.md'), 'utf8');
  const told = [...page.matchAll(/^\| (1\.[\d., ]+?) +\| (\w+)/gm)].flatMap(
    ([, versions = '', state]) => versions.split(', ').map((version) => [version, state]),
  );
  const states = ROWS.map(([version, { state }]) => [version, state]);
  assert.deepEqual(told.toSorted(), states.toSorted());
});

test('two releases have neither a file nor a sum in common', () => {
  assert.equal(new Set(ROWS.map(([, { file }]) => file)).size, ROWS.length);
  assert.equal(new Set(ROWS.map(([, { sum }]) => sum)).size, ROWS.length);
});
