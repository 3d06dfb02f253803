// SPDX-License-Identifier: Apache-2.0
/** JSON objects whose members are unknown until each is checked. */

/** Reports whether a value is a JSON object, not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the members of a JSON object, or none for any other value. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
