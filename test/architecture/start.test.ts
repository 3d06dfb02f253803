// SPDX-License-Identifier: Apache-2.0
/**
 * What a process loads before its command runs: no component has the code of another, keys least of
 * all.
 */
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
  'pki',
  'cel',
  'ca/policy',
  'ca/rotation',
  'ca/custody',
  'requests',
  'trust/authority',
  'trust/attester',
  'trust/trust-distributor',
  'trust/bundle-endpoint',
  'trust/federation',
  'workloads/pod-refresher',
  'notify',
  'install',
  'component/web',
  'component/signers',
  'component/rbac',
  'acme/acme',
  'acme/protocol',
  'acme/orders',
  'acme/issuing',
  'acme/solving/dns',
  'acme/solving/dns01',
  'conformance/runner',
  'kube/apply',
  'ledger',
  'diagnose/explain',
  'diagnose/check/catalogue',
];

/**
 * What the list of components loads of each, and what that is made of: data, and how the values of
 * flags are read.
 */
const DATA = /\/(?:component|flags|messages|permissions|objects|metrics)\.ts$/;
const MORE_DATA = [
  'install/component-list.ts',
  'component/rbac/rules.ts',
  'ledger/database-flags.ts',
  'ledger/ledger/grants.ts',
  'ledger/store/thread-argument.ts',
  'requests/recording/facts-access.ts',
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
  const code = loaded.filter((path) => !DATA.test(path) && !MORE_DATA.includes(path));
  assert.deepEqual(
    code.filter((path) => LATE.some((room) => path.startsWith(`${room}/`))),
    [],
  );
});

test('each file that is excepted is there', () => {
  const paths = new Set(readSources().map(({ path }) => path));
  assert.deepEqual(
    MORE_DATA.filter((path) => !paths.has(path)),
    [],
  );
});

test('the library reaches no code that starts a component', () => {
  const reached = [...closureOf('library/index.ts', readSources())];
  assert.deepEqual(
    reached.filter((path) => path.endsWith('/run.ts')),
    ['library/run.ts'],
  );
});

// ADR 0001: who reads or decides what strangers send does not hold a CA key.
for (const [component, room] of [
  ['approver', 'requests'],
  ['attester', 'trust'],
  ['trust-distributor', 'trust'],
  ['acme-responder', 'acme'],
  ['pod-refresher', 'workloads'],
  ['notifier', 'notify'],
] as const) {
  test(`${component} reaches no code that opens a key`, () => {
    const reached = closureOf(`${room}/${component}/run.ts`, readSources());
    const opening = ['ca/custody/local.ts', 'pki/keys/private-key.ts'];
    assert.deepEqual(
      opening.filter((path) => reached.has(path)),
      [],
    );
  });
}
