// SPDX-License-Identifier: Apache-2.0
/** Two runs of `countersign request --renew` that write the same files. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { MAIN } from '../../support/cluster/countersign.ts';
import { renewals, type Renewals } from './renewals.ts';

/** Starts a renewal. Returns once it has created its request, which the signer does not sign. */
async function startedRenewal(t: TestContext, { words }: Renewals): Promise<ChildProcess> {
  const child = spawn(process.execPath, [MAIN, ...words], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  assert.match(line, / created$/);
  return child;
}

test('a second renewal at the same time ends before its request and changes no file', async (t) => {
  const files = await renewals(t);
  files.sign(false);
  const first = await startedRenewal(t, files);
  const before = readdirSync(files.out);
  const { code, stderr } = await files.renew(files.pkcs12, '--timeout', '1s');
  assert.equal(files.issued(), 1);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /another countersign request writes the files of .*jane/);
  assert.deepEqual(readdirSync(files.out), before);
  files.sign(true);
  assert.deepEqual(await once(first, 'exit'), [0, null]);
  const certificate = new X509Certificate(readFileSync(join(files.out, 'jane.crt')));
  const key = createPrivateKey(readFileSync(join(files.out, 'jane.key'), 'utf8'));
  assert.equal(certificate.checkPrivateKey(key), true);
});

test('a killed renewal does not block the next one', async (t) => {
  const files = await renewals(t);
  files.sign(false);
  const first = await startedRenewal(t, files);
  first.kill('SIGKILL');
  await once(first, 'exit');
  files.sign(true);
  const { code, stderr } = await files.renew();
  assert.equal(code, 0, stderr);
  assert.equal(files.issued(), 2);
});

test('only the owner can open the lock file', async (t) => {
  const files = await renewals(t);
  const { code, stderr } = await files.renew();
  assert.equal(code, 0, stderr);
  assert.equal(statSync(join(files.out, 'jane.lock')).mode & 0o777, 0o600);
});

test('a lock file with other content stays, and ends the command before its request', async (t) => {
  const files = await renewals(t);
  files.issueOld(true);
  await files.renew();
  const lock = join(files.out, 'jane.lock');
  const content = 'the notes of a user, '.repeat(100);
  writeFileSync(lock, content);
  const { code, stderr } = await files.renew();
  assert.equal(code, 2, stderr);
  assert.equal(readFileSync(lock, 'utf8'), content);
  assert.equal(files.issued(), 1);
});
