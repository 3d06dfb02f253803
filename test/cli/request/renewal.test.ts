// SPDX-License-Identifier: Apache-2.0
/** `request --renew` is safe to repeat: it does nothing before a certificate is due. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isDue } from '#cli/commands/request/renewal.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const out = mkdtempSync(join(tmpdir(), 'renew-'));
after(() => {
  rmSync(out, { recursive: true });
});
const MINUTE_MS = 60_000;

test('without a certificate a request is made', async () => {
  assert.equal(await isDue({ out }, join(out, 'absent.crt')), true);
});

test('a certificate is renewed once two thirds of its life have passed, and not before', async () => {
  const file = join(out, 'jane.crt');
  // It is valid from an hour ago for two hours.
  writeFileSync(file, (await tlsCertificate('jane')).cert);
  assert.equal(await isDue({ out }, file), false);
  assert.equal(await isDue({ out }, file, Date.now() + 10 * MINUTE_MS), false);
  assert.equal(await isDue({ out }, file, Date.now() + 25 * MINUTE_MS), true);
  assert.equal(await isDue({ out }, file, Date.now() + 500 * MINUTE_MS), true);
});

test('a file that holds no certificate is not replaced', async () => {
  const file = join(out, 'notes.crt');
  writeFileSync(file, (await tlsCertificate('jane')).key);
  await assert.rejects(isDue({ out }, file), /holds no certificate to renew; move it away/);
});
