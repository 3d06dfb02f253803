// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

/** Page of docs/reference → where the tests are that it names. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  'operator-sentences': [
    ...['operator', 'cert-manager-operator', 'install'],
    ...['reconciling', 'manifests', 'controllers'],
  ],
  'acme-sentences': ['acme', 'acme-orders', 'acme-solving', 'controllers/acme', 'integration'],
  'refresh-sentences': ['refreshing', 'integration', 'controllers', 'manifests'],
};
/** How a page calls a file whose name says less. */
const CALLED: Readonly<Record<string, string>> = { _cluster_: 'pod-refresher' };

/** What a row names: a file, and the beginnings of names of its tests, up to a full stop. */
const NAMED = /(?:`([\w/-]+)`|(_cluster_)): ([^`_.|]+)/g;

for (const [page, places] of Object.entries(PAGES)) {
  test(`each test that ${page}.md names is there`, () => {
    const files = places.flatMap((place) => globSync(join(ROOT, 'test', place, '**/*.ts')));
    const text = readFileSync(join(ROOT, `docs/reference/${page}.md`), 'utf8');
    const held = text.split('\n').map((line) => /^\| [^|]+\|([^|]+)\|$/.exec(line)?.[1] ?? '');
    const named = held.flatMap((cell) => [...cell.matchAll(NAMED)]);
    assert.ok(named.length > 10);
    for (const [, file, other = '', names = ''] of named) {
      const called = basename(file ?? CALLED[other] ?? other);
      const sources = files
        .filter((each) => [`${called}.test.ts`, `${called}.ts`].includes(basename(each)))
        .map((each) => readFileSync(each, 'utf8'))
        .join('\n');
      for (const name of names.split(/;|….*$/).map((each) => each.trim()))
        assert.ok(sources.includes(name), `${called}: ${name}`);
    }
  });
}
