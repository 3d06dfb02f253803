// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodePkcs12 } from '#pki/keystores/encode-pkcs12.ts';
import { SignerError } from '#base/errors.ts';

for (const password of ['', 'short', 'pässwort', 'tab\tinside', '🔑🔑🔑🔑🔑🔑']) {
  test(`refuses an ambiguous password, unrepeated: ${JSON.stringify(password)}`, async () => {
    await assert.rejects(encodePkcs12({}, password), (error: unknown) => {
      assert.ok(error instanceof SignerError && error.code === 'USAGE');
      return password === '' || !error.message.includes(password);
    });
  });
}
