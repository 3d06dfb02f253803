// SPDX-License-Identifier: Apache-2.0
/** What a terminal sees and a program does not: tables of its width, a sign of life. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { freePort } from '../cluster/ports.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { until } from '../cluster/until.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

let folder: string;
let roots: string;
/** Answers nothing. */
let silent: string;
const servers: Server[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-terminal-'));
  roots = join(folder, 'roots.pem');
  await writeFile(roots, rootCertificates.slice(0, 20).join('\n'));
  silent = await silentKubeconfig();
});

after(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true });
});

/** A kubeconfig of a server that never answers. */
async function silentKubeconfig(): Promise<string> {
  const server = createServer(() => undefined);
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const file = join(folder, 'silent.kubeconfig');
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'x' },
    clusters: [
      {
        name: 'x',
        cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true },
      },
    ],
    users: [{ name: 'x', user: { token: 'nobody' } }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

interface Terminal {
  readonly columns?: number;
  /** Ends it once it holds for what was seen. */
  readonly enough?: (seen: string) => boolean;
}

/** Runs it on a terminal of its own: util-linux' `script` gives it one. @returns what is seen */
async function onTerminal(
  args: readonly string[],
  { columns = 80, enough }: Terminal = {},
): Promise<string> {
  const words = [process.execPath, MAIN, ...args].map((each) => `'${each}'`).join(' ');
  const command = `stty cols ${columns} && exec ${words}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'inherit'],
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

test('a table is as wide as the terminal, and nothing of it is left out', async () => {
  const args = ['inspect', '--short', roots];
  const whole = (await countersign(args)).stdout;
  assert.ok(whole.split('\n').some((line) => line.length > 150));
  for (const columns of [80, 110]) {
    const seen = (await onTerminal(args, { columns })).replace(/^countersign .* at work.*\n/m, '');
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
  const seen = await onTerminal(['check', '--kubeconfig', silent], {
    enough: (text) => text.includes('at work'),
  });
  assert.equal(seen.trim(), 'countersign check is at work; Ctrl-C ends it');
});
