// SPDX-License-Identifier: Apache-2.0
/** Each file that opens a connection is listed here, with who names the address that it calls. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const SRC = join(import.meta.dirname, '../../src');

/** Modules that open connections or sockets, or look up names. */
const NETWORK =
  /^import (?!type )(?<names>[^;]*?) from '(?:node:(?:net|dgram|dns|dns\/promises|http|https|http2|tls)|undici)';/gm;
/** Names of those modules that open nothing. */
const OPENS_NOTHING =
  /^(?:type \w+|createServer|BlockList|isIP|isIPv4|isIPv6|getServers|TLSSocket|STATUS_CODES|METHODS)$/;

/**
 * - A file: requesters, tenants or foreign servers may name the address, and this file judges it by
 *   `src/base/egress`.
 * - administrator: a flag, a kubeconfig or an object that only administrators write names it.
 * - person: the person who types the command names it.
 * - none: nothing leaves the process.
 */
const WAYS_OUT: Readonly<Record<string, string>> = {
  'base/egress/exchange.ts': 'base/egress/exchange.ts',
  'acme/solving/dns/transport.ts': 'acme/solving/dns/transport.ts',
  'acme/solving/http/ask-address.ts': 'acme/solving/http/self-check.ts',
  'cli/sources/served.ts': 'person',
  'conformance/runner/pcr/mutual-tls.ts': 'none',
  'trust/federation/fetch.ts': 'trust/federation/fetch.ts',
  'base/egress/connect-guard.ts': 'base/egress/connect-guard.ts',
  'base/egress/tunnel.ts': 'base/egress/tunnel.ts',
  'ca/custody/holder-client.ts': 'administrator',
  'cli/commands/key-holder/probe.ts': 'administrator',
  'kube/client/pools.ts': 'administrator',
  'ledger/sender/connection.ts': 'administrator',
};

const sources = new Map(
  globSync('**/*.ts', { cwd: SRC }).map((file) => [file, readFileSync(join(SRC, file), 'utf8')]),
);

function opensConnections(text: string): boolean {
  return [...text.matchAll(NETWORK)].some(({ groups }) =>
    (groups?.['names'] ?? '')
      .replaceAll(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim().replace(/ as .*/, ''))
      .some((name) => name !== '' && !OPENS_NOTHING.test(name)),
  );
}

test('each file that opens a connection is listed with who names its address', () => {
  const found = [...sources].filter(([, text]) => opensConnections(text)).map(([file]) => file);
  assert.deepEqual(found.sort(), Object.keys(WAYS_OUT).sort());
});

test('no file calls the global fetch, which no guard judges', () => {
  const found = [...sources].filter(([, text]) => /(?<![.\w])fetch\(/.test(text));
  const calls = found.filter(
    ([file, text]) =>
      // A browser runs these files, and their policy allows the origin of the page alone.
      !file.startsWith('console/browser/') &&
      !/(?:function|const) fetch\b|import .*\bfetch\b/.test(text),
  );
  assert.deepEqual(
    calls.map(([file]) => file),
    [],
  );
});

for (const [file, judge] of Object.entries(WAYS_OUT))
  if (judge.endsWith('.ts'))
    test(`${judge} judges the addresses that ${file} calls`, () => {
      assert.match(sources.get(judge) ?? '', /\bguard\b|\brefusalOf\(/);
    });
