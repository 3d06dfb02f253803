// SPDX-License-Identifier: Apache-2.0
/** `countersign ledger rotate-key` against an API server with the Secret and the Deployment. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { text } from 'node:stream/consumers';
import { countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { openWrittenServer } from '../support/cluster/silent-server.ts';

interface Operation {
  readonly op: 'test' | 'move' | 'remove';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

const memberOf = (pointer = ''): string => pointer.replace('/data/', '');

/** Applies a JSON Patch (RFC 6902). Returns undefined if an operation fails. */
function patched(
  before: ReadonlyMap<string, string>,
  operations: readonly Operation[],
): Map<string, string> | undefined {
  const data = new Map(before);
  for (const { op, path, from, value } of operations) {
    const found = data.get(memberOf(from ?? path));
    if (op === 'test' ? (found ?? null) !== value : found === undefined) return undefined;
    if (op !== 'test') data.delete(memberOf(from ?? path));
    if (found !== undefined && op === 'move') data.set(memberOf(path), found);
  }
  return data;
}

interface Rotation {
  /** The names of the keys in the Secret. */
  readonly keys: () => readonly string[];
  readonly rotate: (...flags: readonly string[]) => Promise<CommandResult>;
}

/** @param mayRestart - whether a patch of the Deployment succeeds */
async function rotation(
  t: TestContext,
  names: readonly string[],
  mayRestart: (isDryRun: boolean) => boolean,
): Promise<Rotation> {
  let data = new Map(names.map((name) => [name, `value of ${name}`]));
  const server = await openWrittenServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://x');
    const isDryRun = searchParams.has('dryRun');
    const answer = (code: number, reason = ''): void => {
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', code, reason, message: 'no' }));
    };
    void text(incoming).then((body) => {
      if (pathname.includes('/deployments/')) {
        if (mayRestart(isDryRun)) answer(200);
        else answer(403, 'Forbidden');
        return;
      }
      const next = patched(data, JSON.parse(body) as readonly Operation[]);
      if (next !== undefined && !isDryRun) data = next;
      answer(next === undefined ? 422 : 200, 'Invalid');
    });
  });
  t.after(() => server.close());
  const args = ['ledger', 'rotate-key', '--kubeconfig', server.kubeconfig];
  return {
    keys: () => [...data.keys()],
    rotate: (...flags) => countersign([...args, ...flags]),
  };
}

test('a rotation without permission to restart the ledger changes no key', async (t) => {
  const { keys, rotate } = await rotation(t, ['log.key'], () => false);
  const { code, stderr } = await rotate('--yes');
  assert.equal(code, 1, stderr);
  assert.deepEqual(keys(), ['log.key']);
});

test('a rotation whose restart fails names the command that restarts the ledger', async (t) => {
  const { keys, rotate } = await rotation(t, ['log.key'], (isDryRun) => isDryRun);
  const { code, stderr } = await rotate('--yes');
  assert.equal(code, 1, stderr);
  assert.deepEqual(keys(), ['previous.key']);
  const command = 'kubectl rollout restart deployment/countersign-ledger -n countersign-system';
  assert.ok(stderr.includes(command), stderr);
});

test('the former key stays until the ledger has made the next one', async (t) => {
  const { keys, rotate } = await rotation(t, ['previous.key'], () => true);
  const { code, stderr } = await rotate('--complete', '--yes');
  assert.equal(code, 2, stderr);
  assert.deepEqual(keys(), ['previous.key']);
  assert.match(stderr, /the ledger makes the next key when it restarts/);
});

test('a completed rotation keeps the current key alone', async (t) => {
  const { keys, rotate } = await rotation(t, ['previous.key', 'log.key'], () => true);
  const { code, stderr } = await rotate('--complete', '--yes');
  assert.equal(code, 0, stderr);
  assert.deepEqual(keys(), ['log.key']);
});
