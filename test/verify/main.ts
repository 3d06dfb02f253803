// SPDX-License-Identifier: Apache-2.0
/**
 * `make verify`: `node test/verify/main.ts [--only acme,ledger] [--since COMMIT]`. Exit code 0 only
 * if every suite that was considered is green.
 */
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ImportGraph, type Reach } from './import-graph.ts';
import { commandsOf, readMakefile } from './makefile.ts';
import { PAGE, parsePage, renderPage } from './page.ts';
import { ROOT, changedSince, commitOf, fileAt, readTree } from './repository.ts';
import { runTarget } from './run-target.ts';
import { SUITES, hasTests, rootsOf, suitesNamed, type Suite } from './suites.ts';
import { verify, type Ports } from './verify.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, since: { type: 'string', default: '' } },
});
const only = values.only === '' ? undefined : suitesNamed(values.only);
const since = values.since === '' ? undefined : values.since;
if (since !== undefined && commitOf(since) === undefined)
  throw new Error(`SINCE=${since}: this clone has no such commit`);

const LOGS = '.cache/verify';
mkdirSync(join(ROOT, LOGS), { recursive: true });
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort());

const makefile = readMakefile(readFileSync(join(ROOT, 'Makefile'), 'utf8'));
const graph = new ImportGraph(readTree());
const reaches = new Map<string, Reach>();

const ports: Ports = {
  run: runSuite,
  head: () => (commitOf('HEAD') ?? '').slice(0, 12),
  isInstalled,
  now: () => performance.now(),
  cores: availableParallelism(),
  keep: async (rows) => {
    writeFileSync(join(ROOT, PAGE), await renderPage(SUITES, rows));
  },
  print: (line) => console.log(line),
};
const page = join(ROOT, PAGE);
const rows = parsePage(existsSync(page) ? readFileSync(page, 'utf8') : '');
const allGreen = await verify({ suites: SUITES, rows, changesOf, only, since }, ports);
if (!allGreen) process.exitCode = 1;

async function runSuite(suite: Suite): ReturnType<Ports['run']> {
  const log = `${LOGS}/${suite.target}.log`;
  const command = { ...suite, directory: ROOT, log: join(ROOT, log) };
  const ended = await runTarget(command, stopped.signal);
  if (stopped.signal.aborted) return undefined;
  if (ended.exitCode !== 0) console.log(`   its output is in ${log}`);
  return { ...ended, hasTests: hasTests(suite, makefile) };
}

function changesOf(suite: Suite, commit: string): readonly string[] | undefined {
  if (commitOf(commit) === undefined) return undefined;
  const { has } = reachOf(suite);
  const before = commandsOf(readMakefile(fileAt(commit, 'Makefile')), suite.target);
  const commands = before === commandsOf(makefile, suite.target) ? [] : ['Makefile'];
  // The rest of the Makefile is for other targets, and the page is the memory of this program.
  const others = ['Makefile', PAGE];
  const changed = changedSince(commit).filter((path) => !others.includes(path) && has(path));
  return [...commands, ...changed];
}

function reachOf(suite: Suite): Reach {
  const known = reaches.get(suite.target);
  if (known !== undefined) return known;
  const reach = graph.reachOf(rootsOf(suite, makefile));
  reaches.set(suite.target, reach);
  return reach;
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
