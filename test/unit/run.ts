// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the unit tests of folders: `node test/unit/run.ts FOLDER…`. An argument may be a file as
 * well: files of one folder of `test` are a group.
 *
 * Each group is one process, and two run at once. The output is a line for each group, and what a
 * process printed when one of its tests failed. Name the folders that take longest first.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '../..');
const AT_ONCE = 2;
/** Only ends a hang: the slowest group takes a minute or two on two cores. */
const HANG_MS = 40 * 60_000;

interface Group {
  readonly name: string;
  readonly files: readonly string[];
}

interface Outcome {
  readonly failed: boolean;
  readonly tests: number;
}

function groupOf(folder: string): Group {
  const files = globSync(`${folder}/**/*.test.ts`, { cwd: ROOT }).sort();
  if (files.length === 0) throw new Error(`${folder} contains no test`);
  return { name: folder, files };
}

function groupsOf(names: readonly string[]): readonly Group[] {
  const isFile = (name: string): boolean => name.endsWith('.test.ts');
  const files = Object.groupBy(names.filter(isFile), (name) =>
    name.split('/').slice(0, 2).join('/'),
  );
  const folders = names.filter((name) => !isFile(name)).map(groupOf);
  return [...folders, ...Object.entries(files).map(([name, some = []]) => ({ name, files: some }))];
}

async function run({ name, files }: Group): Promise<Outcome> {
  const args = ['--test-reporter=spec', join(import.meta.dirname, 'group.ts'), ...files];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const began = performance.now();
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part));
  const hang = new AbortController();
  const isOver = await Promise.race([
    once(child, 'close').then(() => true),
    sleep(HANG_MS, false, { signal: hang.signal }),
  ]);
  hang.abort();
  if (!isOver) {
    child.kill('SIGKILL');
    child.stdout.destroy();
    child.stderr.destroy();
    stderr += `${name} was ended after ${HANG_MS / 60_000} minutes\n`;
  }
  const tests = counted(stdout, 'tests');
  const empty = files.filter((file) => !stdout.includes(`▶ ${file}\n`));
  const failed = child.exitCode !== 0 || empty.length > 0;
  if (failed) process.stdout.write(`${stdout}${stderr}`);
  for (const file of empty) console.log(`${file} has no test of its own in the report`);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const skipped = counted(stdout, 'skipped');
  console.log(
    `${failed ? 'FAILED' : 'ok'} ${name}: ${tests} tests in ${files.length} files, ` +
      `${skipped === 0 ? '' : `${skipped} skipped, `}${seconds} s`,
  );
  return { failed, tests };
}

/** A number of the summary at the end of a report. */
function counted(report: string, name: string): number {
  const lines = [...report.matchAll(new RegExp(`^\\S+ ${name} (\\d+)$`, 'gm'))];
  return Number(lines.at(-1)?.[1] ?? 0);
}

/** Runs each group once; each of the workers takes the next when it has finished one. */
async function runAll(groups: readonly Group[]): Promise<readonly Outcome[]> {
  const waiting = groups.values();
  const outcomes: Outcome[] = [];
  const work = async (): Promise<void> => {
    for (const group of waiting) outcomes.push(await run(group));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

const outcomes = await runAll(groupsOf(process.argv.slice(2)));
const total = outcomes.reduce((sum, { tests }) => sum + tests, 0);
const failed = outcomes.filter((outcome) => outcome.failed).length;
console.log(`${total} tests, ${failed} of ${outcomes.length} groups failed`);
if (failed > 0) process.exitCode = 1;
