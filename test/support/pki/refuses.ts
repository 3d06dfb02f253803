// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { SignerError, type Disposition, type ErrorCode } from '#base/errors.ts';

/** Asserts that `run` throws a SignerError with this code, and words that match. */
export function refuses(
  run: () => unknown,
  code: ErrorCode,
  message: RegExp,
  disposition: Disposition = 'fail',
): void {
  assert.throws(run, (error: unknown) => {
    assert.ok(error instanceof SignerError, `not a SignerError: ${String(error)}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    assert.equal(error.disposition, disposition);
    return true;
  });
}
