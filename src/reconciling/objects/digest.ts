// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { isRecord } from './managed-object.ts';

/** SHA-256 of the canonical JSON, as hex: equal values have equal digests. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** JSON without spaces and with sorted keys: equal values give equal texts. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each ?? null)).join()}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join()}}`;
}
