// SPDX-License-Identifier: Apache-2.0

/**
 * Reports whether two byte strings are equal. `undefined` equals nothing, not even `undefined`.
 *
 * The time depends on the bytes: do not compare secrets with it.
 */
export function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0;
}
