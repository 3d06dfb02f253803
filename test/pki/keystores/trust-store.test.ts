// SPDX-License-Identifier: Apache-2.0
/** Truststores, judged by OpenSSL and by our own reader. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { decodePkcs12 } from '#pki/keystores/decode-pkcs12.ts';
import { encodeTrustStore } from '#pki/keystores/trust-store.ts';
import { certificateBlocks } from '#pki/x509/trust-bundle.ts';
import { anchor } from '../../support/trust/bundles.ts';

/** As docs/how-to/distribute-trust.md says; Java's own truststore has it. */
const PASSWORD = 'changeit';

const run = promisify(execFile);
const texts = ['A', 'B'].map((name) => anchor(name).pem);
const anchors = certificateBlocks(texts.join(''));

test('each anchor is there once, trusted, under an alias of its own', async () => {
  const { keys, certificates } = await decodePkcs12(await encodeTrustStore(anchors), PASSWORD);
  assert.equal(keys.length, 0);
  assert.deepEqual(
    certificates.map(({ der }) => Buffer.from(der)),
    anchors.map((der) => Buffer.from(der)),
  );
  assert.ok(certificates.every(({ isTrusted }) => isTrusted));
  assert.equal(new Set(certificates.map(({ alias }) => alias)).size, anchors.length);
});

test('equal anchors make equal bytes, and others do not', async () => {
  const first = Buffer.from(await encodeTrustStore(anchors));
  assert.ok(first.equals(await encodeTrustStore(anchors)));
  assert.ok(!first.equals(await encodeTrustStore(anchors.slice(0, 1))));
});

test('OpenSSL finds the anchors', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'truststore-'));
  t.after(() => rm(directory, { recursive: true }));
  const file = join(directory, 'truststore.p12');
  await writeFile(file, await encodeTrustStore(anchors));
  const password = `pass:${PASSWORD}`;
  const { stdout } = await run('openssl', ['pkcs12', '-in', file, '-nokeys', '-passin', password]);
  assert.deepEqual(
    certificateBlocks(stdout).map((der) => Buffer.from(der)),
    anchors.map((der) => Buffer.from(der)),
  );
});
