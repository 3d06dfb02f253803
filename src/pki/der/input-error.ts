// SPDX-License-Identifier: Apache-2.0
import { SignerError, type ErrorCode } from '../../errors.ts';

/**
 * The error for input that can never be accepted as it stands: its sender must send other input.
 *
 * @param message - what is wrong; never key material
 * @returns an error of disposition `fail`, to be thrown
 */
export function inputError(code: ErrorCode, message: string, cause?: unknown): SignerError {
  return new SignerError({ code, disposition: 'fail', message, cause });
}

/**
 * The error for bytes that are not DER (X.690), or not of the type that their place requires.
 *
 * @param message - which value is wrong and how; "not valid DER: " is put before it
 * @returns a DER_MALFORMED, to be thrown
 */
export function malformed(message: string): SignerError {
  return inputError('DER_MALFORMED', `not valid DER: ${message}`);
}
