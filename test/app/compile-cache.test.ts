// SPDX-License-Identifier: Apache-2.0
/** The image's compile cache: used by Node as the image runs it, and never needed. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { writeKubeconfig } from '../cluster/kubeconfig.ts';
import { entrypointFlags } from '../support/cluster/entrypoint-flags.ts';

const ROOT = join(import.meta.dirname, '../..');
const BUNDLE = join(ROOT, 'dist/countersign.mjs');
const PARTS = join(ROOT, 'dist/countersign');
const CACHE = 'NODE_COMPILE_CACHE';

let directory = '';
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'countersign-compile-cache-'));
  const nowhere = { server: 'https://127.0.0.1:1', certificateAuthorityData: '' };
  writeKubeconfig(join(directory, 'kubeconfig'), nowhere, { token: 'none' });
});
after(() => rmSync(directory, { recursive: true }));

/** The argv of the Dockerfile's RUN that makes the cache, with the paths of this checkout. */
function makeArguments(): readonly string[] {
  const [, argv = '[]'] =
    /^RUN (\[.*compile-cache.*\])$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? [];
  const all = JSON.parse(argv) as readonly string[];
  const flags = all.slice(1, -2);
  assert.deepEqual(flags.slice(0, -1), entrypointFlags(), 'other flags: Node refuses the cache');
  return [...flags, join(ROOT, 'build/compile-cache.ts'), PARTS];
}

function makeCache(name: string): string {
  const path = join(directory, name);
  execFileSync(process.execPath, makeArguments(), { env: { ...process.env, [CACHE]: path } });
  return path;
}

/** The paths of the files of a cache, below it. */
function filesOf(cache: string): readonly string[] {
  return readdirSync(cache, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(cache.length))
    .sort();
}

interface Start {
  readonly started: { readonly msg: string; readonly compileCache?: string };
  /** What Node says of each file of the bundle. */
  readonly verdicts: readonly string[];
}

/** Starts an approver with a compile cache until it has started. */
async function start(cache: string): Promise<Start> {
  const kubeconfig = join(directory, 'kubeconfig');
  const flags = ['--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0', '--no-leases'];
  const child = spawn(process.execPath, [...entrypointFlags(), BUNDLE, 'approver', ...flags], {
    env: { ...process.env, [CACHE]: cache, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const verdicts: string[] = [];
  try {
    for await (const line of createInterface(child.stderr)) {
      const [verdict] = /dist\/countersign\/.* was (?:not )?\w+/.exec(line) ?? [];
      if (verdict !== undefined) verdicts.push(verdict);
      if (!line.startsWith('{')) continue;
      const read = JSON.parse(line) as Start['started'];
      if (read.msg === 'started') return { started: read, verdicts };
    }
    throw new Error('it ended before it started');
  } finally {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

// The bytes are not compared here: V8 writes how old a function's code is, which depends on when it
// collects garbage. `test/integration/image.test.ts` compares two images.
test('the same bundle gives a compile cache of the same files', () => {
  const [one, other] = [filesOf(makeCache('one')), filesOf(makeCache('other'))];
  assert.ok(one.length > 100, `${one.length} files`);
  assert.deepEqual(one, other);
});

test('Node takes the cache with the flags of the image, and the log says so', async () => {
  const { started, verdicts } = await start(makeCache('taken'));
  assert.equal(started.compileCache, 'used');
  assert.ok(verdicts.length > 50, `${verdicts.length} files`);
  // A file that is not in the cache is "not initialized".
  const refused = verdicts.filter((each) => !/ was (?:accepted|not initialized)$/.test(each));
  assert.deepEqual(refused, []);
  const accepted = verdicts.filter((each) => each.endsWith('accepted'));
  assert.ok(accepted.length > 0.9 * verdicts.length, verdicts.join('\n'));
});

test('a component starts without the cache if Node refuses it, and the log says so', async () => {
  // No directory can be made below a file: as on a read-only root, for another user or version.
  const { started } = await start(join(directory, 'kubeconfig', 'refused'));
  assert.equal(started.compileCache, 'refused');
});
