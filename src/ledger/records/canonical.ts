// SPDX-License-Identifier: Apache-2.0
/** JSON with one spelling (RFC 8785), so that the same record always has the same hash. */
import { malformedRecord } from './malformed.ts';

/** A value of a record. Numbers are integers, because programs spell fractions differently. */
export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | readonly CanonicalValue[]
  | { readonly [member: string]: CanonicalValue | undefined };

/**
 * Returns the UTF-8 bytes of `value` as RFC 8785 spells it: members sorted by UTF-16 units, no
 * blanks. It omits undefined members.
 * @throws SignerError LEDGER_MALFORMED for a number that is not a safe integer, or text with half a
 * character
 */
export function canonicalJson(value: CanonicalValue): Uint8Array {
  return Buffer.from(spelled(value));
}

function spelled(value: CanonicalValue): string {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return integer(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (isList(value)) return `[${value.map(spelled).join(',')}]`;
  // sort() without a comparator compares UTF-16 units.
  const names = Object.keys(value).sort();
  let members = '';
  for (const name of names) {
    const member = value[name];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${text(name)}:${spelled(member)}`;
  }
  return `{${members}}`;
}

function isList(value: CanonicalValue): value is readonly CanonicalValue[] {
  return Array.isArray(value);
}

/**
 * Spells a text as RFC 8785 §3.2.2.2 does. Only a well-formed text has one encoding in UTF-8, and
 * JSON.stringify complies for it.
 */
function text(value: string): string {
  if (value.isWellFormed()) return JSON.stringify(value);
  throw malformedRecord('a text in it ends within a character');
}

function integer(value: number): string {
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value);
  throw malformedRecord('a number in it is not a safe integer');
}
