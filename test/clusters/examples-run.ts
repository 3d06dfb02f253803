// SPDX-License-Identifier: Apache-2.0
/** The servers of examples listen on IPv6 as well: kubelets send probes to `status.podIP`. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

/** Lines that open a port on IPv4 alone, by the documentation of each server. */
const ON_IPV4 = [
  // Any: an address of IPv4.
  /\b0\.0\.0\.0\b/,
  // HAProxy, "bind": without an address, all IPv4 addresses.
  /^\s*bind \*?:\d+/m,
];

/** Ports of nginx on IPv4 (`8443`) or on IPv6 (`[::]:8443`) alone (ngx_http_core_module). */
const LISTEN = /^\s*listen (?<address>\[::\]:)?(?<port>\d+)/gm;

function faultsOf(text: string): readonly string[] {
  const found = [...text.matchAll(LISTEN)].map(({ groups = {} }) => groups);
  const ports = (ofIPv6: boolean): readonly unknown[] =>
    found.filter((each) => (each['address'] !== undefined) === ofIPv6).map((each) => each['port']);
  const alone = ports(false).filter((port) => !ports(true).includes(port));
  const lines = ON_IPV4.flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
  return [...lines, ...alone.map((port) => `listen ${String(port)}`)];
}

test('no server of examples listens on IPv4 alone', () => {
  const files = globSync('{examples,deploy/examples}/**/*.yaml', { cwd: ROOT });
  assert.ok(files.length > 10);
  const faults = files.flatMap((file) =>
    faultsOf(readFileSync(join(ROOT, file), 'utf8')).map((fault) => `${file}: ${fault}`),
  );
  assert.deepEqual(faults, []);
});

test('a port that nginx, HAProxy or Envoy opens on IPv4 alone is found', () => {
  assert.deepEqual(faultsOf('  listen 8443 ssl;'), ['listen 8443']);
  assert.deepEqual(faultsOf('  listen 8443 ssl;\n  listen [::]:8443 ssl;'), []);
  assert.deepEqual(faultsOf('  bind :8443 ssl'), ['  bind :8443']);
  assert.deepEqual(faultsOf('  bind :::8443 v4v6 ssl'), []);
  assert.deepEqual(faultsOf('{ address: 0.0.0.0, port_value: 1 }'), ['0.0.0.0']);
});
