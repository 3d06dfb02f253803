// SPDX-License-Identifier: Apache-2.0
/** What a terminal sees and a program does not: tables of its width, a sign of life. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { countersign, MAIN } from '../support/cluster/countersign.ts';
import {
  openForbiddingServer,
  openSilentServer,
  type SilentServer,
} from '../support/cluster/silent-server.ts';
import { until } from '../cluster/until.ts';

let folder: string;
let roots: string;
let silent: SilentServer;
let forbidding: SilentServer;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-terminal-'));
  roots = join(folder, 'roots.pem');
  await writeFile(roots, rootCertificates.slice(0, 20).join('\n'));
  silent = await openSilentServer();
  forbidding = await openForbiddingServer();
});

after(async () => {
  await silent.close();
  await forbidding.close();
  await rm(folder, { recursive: true });
});

interface Terminal {
  readonly columns?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Ends it once it holds for what was seen. */
  readonly enough?: (seen: string) => boolean;
}

/** Runs it on a terminal of its own: util-linux' `script` gives it one. @returns what is seen */
async function onTerminal(
  args: readonly string[],
  { columns = 80, enough, environment = {} }: Terminal = {},
): Promise<string> {
  const words = [process.execPath, MAIN, ...args].map((each) => `'${each}'`).join(' ');
  const command = `stty cols ${columns} && exec ${words}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TERM: 'xterm-256color', NO_COLOR: '', ...environment },
  });
  let seen = '';
  child.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
  const closed = once(child, 'close');
  if (enough !== undefined) {
    await until('it is seen', 120_000, () => Promise.resolve(enough(seen) || undefined));
    child.kill();
  }
  await closed;
  return seen.replaceAll('\r', '');
}

const withoutSignOfLife = (text: string): string =>
  text.replace(/^countersign .* at work.*\n/m, '');

test('a table is as wide as the terminal, and nothing of it is left out', async () => {
  const args = ['inspect', '--short', roots];
  const whole = (await countersign(args)).stdout;
  assert.ok(whole.split('\n').some((line) => line.length > 150));
  for (const columns of [80, 110]) {
    const seen = withoutSignOfLife(await onTerminal(args, { columns }));
    const lines = seen.split('\n');
    assert.deepEqual(
      lines.filter((line) => line.length > columns),
      [],
    );
    assert.ok(lines.some((line) => line.length > columns - 12));
    const characters = (text: string): readonly string[] =>
      Array.from(text.replaceAll(/\s/g, '')).sort();
    assert.deepEqual(characters(seen), characters(whole));
  }
});

test('on a terminal a command says that it is at work when it takes long', async () => {
  const seen = await onTerminal(['check', '--kubeconfig', silent.kubeconfig], {
    enough: (text) => text.includes('at work'),
  });
  assert.equal(seen.trim(), 'countersign check is at work; Ctrl-C ends it');
});

/** ECMA-48, select graphic rendition: how a color begins and ends. */
const COLORS = ['32', '33', '31', '36', '0'].map((code) => `\u001B[${code}m`);
const withoutColors = (text: string): string =>
  COLORS.reduce((rest, color) => rest.replaceAll(color, ''), text);

test('marks are colored on a terminal, and the text is that which a program reads', async () => {
  const args = ['check', '--kubeconfig', forbidding.kubeconfig];
  const seen = await onTerminal(args);
  assert.ok(COLORS.some((color) => seen.includes(color)));
  assert.equal(withoutSignOfLife(withoutColors(seen)), (await countersign(args)).stdout);
});

const PLAIN: readonly [
  why: string,
  args: readonly string[],
  environment: Record<string, string>,
][] = [
  ['NO_COLOR is set', [], { NO_COLOR: '1' }],
  ['the terminal is dumb', [], { TERM: 'dumb' }],
  ['JSON is asked for', ['-o', 'json'], {}],
  ['YAML is asked for', ['-o', 'yaml'], {}],
];

for (const [why, more, environment] of PLAIN) {
  test(`nothing is colored on a terminal where ${why}`, async () => {
    const args = ['check', '--kubeconfig', forbidding.kubeconfig, ...more];
    const seen = await onTerminal(args, { environment });
    assert.ok(seen.length > 500, seen);
    assert.ok(!seen.includes('\u001B'));
  });
}

test('an error has no colors on a terminal either', async () => {
  const seen = await onTerminal(['check', '--bogus']);
  assert.equal(seen, "error: unknown option '--bogus'\nnext: countersign check --help\n");
});
