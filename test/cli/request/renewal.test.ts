// SPDX-License-Identifier: Apache-2.0
/** `request --renew` is safe to repeat: it does nothing before a certificate is due. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isDue, type CertificateFiles } from '#cli/commands/request/renewal.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const out = mkdtempSync(join(tmpdir(), 'renew-'));
after(() => {
  rmSync(out, { recursive: true });
});
const MINUTE_MS = 60_000;

const filesOf = (name: string): CertificateFiles => ({
  key: join(out, `${name}.key`),
  certificate: join(out, `${name}.crt`),
});

test('without a certificate a request is made', async () => {
  assert.equal(await isDue(filesOf('absent')), true);
});

test('a certificate is renewed once two thirds of its life have passed, and not before', async () => {
  const files = filesOf('jane');
  // It is valid from an hour ago for two hours.
  const { cert, key } = await tlsCertificate('jane');
  writeFileSync(files.certificate, cert);
  writeFileSync(files.key, key);
  assert.equal(await isDue(files), false);
  assert.equal(await isDue(files, Date.now() + 10 * MINUTE_MS), false);
  assert.equal(await isDue(files, Date.now() + 25 * MINUTE_MS), true);
  assert.equal(await isDue(files, Date.now() + 500 * MINUTE_MS), true);
});

test('a file that holds no certificate is not replaced', async () => {
  const files = filesOf('notes');
  writeFileSync(files.certificate, (await tlsCertificate('jane')).key);
  await assert.rejects(isDue(files), /holds no certificate to renew; move it away/);
});
