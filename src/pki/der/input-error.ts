// SPDX-License-Identifier: Apache-2.0
import { SignerError, type ErrorCode } from '#base/errors.ts';

/**
 * Returns the error for input that can never be accepted: its sender must send other input.
 *
 * @param message - the fault, never key material
 * @returns an error of disposition `fail`, to be thrown
 */
export function inputError(code: ErrorCode, message: string, cause?: unknown): SignerError {
  return new SignerError({ code, disposition: 'fail', message, cause });
}

/**
 * Returns the error for bytes that are not DER (X.690), or not of the type that their place
 * requires.
 *
 * @param message - the wrong value and its fault. The function puts "not valid DER: " before it.
 * @returns a DER_MALFORMED, to be thrown
 */
export function malformed(message: string): SignerError {
  return inputError('DER_MALFORMED', `not valid DER: ${message}`);
}
