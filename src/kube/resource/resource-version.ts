// SPDX-License-Identifier: Apache-2.0

/**
 * Whether `a` is of a later moment than `b`. resourceVersions of one collection are decimal numbers
 * that grow (KEP-5504); they may be longer than a double is exact, so they are compared as text.
 */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}
