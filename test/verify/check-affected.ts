// SPDX-License-Identifier: Apache-2.0
/**
 * `make affected`: `node test/verify/check-affected.ts [--since COMMIT] FOLDER…` with the folders
 * of unit tests. It checks what changed since the commit, committed or not: format and lint of the
 * changed files, types, and the unit tests that reach them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { LAWS, affectedBy } from './affected.ts';
import { ImportGraph } from './import-graph.ts';
import { ROOT, changedSince, commitOf, mergeBase, readTree } from './repository.ts';

/** Longer ones would fill the screen. */
const MAX_NAMED = 20;

const { values, positionals } = parseArgs({
  options: { since: { type: 'string', default: '' } },
  allowPositionals: true,
});
const since = sinceOf(values.since);
const changed = changedSince(since);
if (changed.length === 0) console.log(`Nothing changed since ${since}`);
else await check();

function sinceOf(name: string): string {
  const commit = name === '' ? mergeBase('main') : commitOf(name);
  if (commit !== undefined) return commit;
  throw new Error(
    name === ''
      ? 'no commit is shared with a branch main: name one by SINCE=<commit>'
      : `SINCE=${name}: this clone has no such commit`,
  );
}

async function check(): Promise<void> {
  const tree = readTree();
  const { format, lint, tests } = affectedBy(
    { changed, files: tree.files, folders: positionals },
    new ImportGraph(tree),
  );
  const paths = changed.slice(0, MAX_NAMED).join('\n  ');
  const more = changed.length > MAX_NAMED ? `\n  and ${changed.length - MAX_NAMED} more` : '';
  console.log(`Changed since ${since.slice(0, 12)}:\n  ${paths}${more}`);
  const isBrowser = changed.some((path) => path.startsWith('src/console/'));
  // The compiler fills one core, prettier and eslint another.
  const checked = await Promise.all([
    inOrder([
      step('format', 'prettier', '--check', '--log-level', 'warn', '--ignore-unknown', ...format),
      ...(lint.length > 0
        ? [step('lint', 'eslint', '--max-warnings', '0', '--no-warn-ignored', ...lint)]
        : []),
    ]),
    inOrder([
      step('types', 'tsc', '-p', '.'),
      ...(isBrowser ? [step('types of the browser', 'tsc', '-p', 'src/console/browser')] : []),
    ]),
  ]);
  const unit = await inOrder([step('unit', 'node', 'test/unit/run.ts', LAWS, ...tests)]);
  if (![...checked, unit].every(Boolean)) process.exitCode = 1;
}

interface Step {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}

function step(name: string, program: string, ...args: readonly string[]): Step {
  return { name, program, args };
}

/** Runs steps one after the other, and continues after one that fails. */
async function inOrder(steps: readonly Step[]): Promise<boolean> {
  let held = true;
  for (const { name, program, args } of steps) {
    const began = performance.now();
    const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const isRed = child.exitCode !== 0;
    if (isRed || name === 'unit') process.stdout.write(`${stdout}${stderr}`);
    console.log(`${isRed ? 'FAILED' : 'ok'} ${name}, ${seconds} s`);
    held &&= !isRed;
  }
  return held;
}
