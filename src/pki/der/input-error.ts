// SPDX-License-Identifier: Apache-2.0
import { SignerError, type ErrorCode } from '../../errors.ts';

/** Bytes or names that can never be used as they are: whoever made them must make others. */
export function inputError(code: ErrorCode, message: string, cause?: unknown): SignerError {
  return new SignerError({ code, disposition: 'fail', message, cause });
}

export function malformed(message: string): SignerError {
  return new SignerError({
    code: 'DER_MALFORMED',
    disposition: 'fail',
    message: `not valid DER: ${message}`,
  });
}
