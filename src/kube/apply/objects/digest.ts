// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { isRecord } from '#base/record.ts';

/** Returns the SHA-256 of the canonical JSON, as hex. Equal values have equal digests. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** Returns JSON without spaces and with sorted keys. Equal values give equal texts. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each ?? null)).join()}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join()}}`;
}
