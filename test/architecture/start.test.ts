// SPDX-License-Identifier: Apache-2.0
/** What a process loads before its command runs: no component has the code of another, keys least of all. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { closureOf, readSources } from './sources.ts';

const SRC = join(import.meta.dirname, '../../src');

/** Says each module that Node loads. */
const HOOK = `
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    process.stderr.write('LOADED ' + url + '\\n');
    return next(url, context);
  },
});
`;

/** Rooms whose code is loaded by the command that needs it. */
const LATE = [
  ...['pki', 'cel', 'policy', 'rotation', 'authorities', 'controllers', 'runtime', 'manifests'],
  ...['web', 'acme', 'acme-orders', 'acme-issuing', 'acme-solving/dns', 'acme-solving/dns01'],
  ...[
    'conformance-runner',
    'reconciling',
    'installing',
    'ledger',
    'explanations',
    'checks/catalogue',
  ],
];

test('the command line loads no code of components and commands before one is called', () => {
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`;
  const main = join(SRC, 'cli/main.ts');
  const { stderr, status } = spawnSync(process.execPath, ['--import', hook, main, '--version'], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const src = `LOADED ${pathToFileURL(SRC).href}/`;
  const loaded = stderr
    .split('\n')
    .flatMap((line) => (line.startsWith(src) ? [line.slice(src.length)] : []));
  assert.ok(loaded.includes('cli/main.ts'), stderr);
  assert.deepEqual(
    loaded.filter((path) => LATE.some((room) => path.startsWith(`${room}/`))),
    [],
  );
});

test('the approver never loads the code that reads a key', () => {
  const approver = closureOf('cli/components/approver.ts', readSources());
  assert.ok(approver.has('controllers/approver/index.ts'));
  assert.ok(
    !approver.has('authorities/local.ts'),
    'cli/components/approver.ts → authorities/local.ts',
  );
});
