// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { readServingCertificate } from '#component/web/serving-certificate.ts';

// A Secret that is not there yet is an empty folder; each other reason would be a warning of its
// own.
test('while neither file is there, the reason is the same at every look', async () => {
  const absent = join(tmpdir(), 'countersign-absent');
  const looks = Array.from({ length: 500 }, () => readServingCertificate(absent, Date.now()));
  assert.equal(new Set(await Promise.all(looks)).size, 1);
});
