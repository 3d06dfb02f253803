// SPDX-License-Identifier: Apache-2.0
/** JSON with one spelling (RFC 8785), so that the same record always has the same hash. */
import { malformedRecord } from './malformed.ts';

/** What a record is made of: integers only, since fractions are spelled differently by different programs. */
export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | readonly CanonicalValue[]
  | { readonly [member: string]: CanonicalValue | undefined };

/**
 * The UTF-8 bytes of `value` as RFC 8785 spells it: members in the order of their UTF-16 units, no blanks. Members that
 * are undefined are left out.
 *
 * @throws SignerError LEDGER_MALFORMED for a number that is no safe integer, or text with half a character
 */
export function canonicalJson(value: CanonicalValue): Uint8Array {
  return Buffer.from(spelled(value));
}

function spelled(value: CanonicalValue): string {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return integer(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (isList(value)) return `[${value.map(spelled).join(',')}]`;
  // Without a comparison of its own, sort compares UTF-16 units.
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

/** Only a well-formed text has one encoding in UTF-8; of such, JSON.stringify is as RFC 8785 §3.2.2.2 has it. */
function text(value: string): string {
  if (value.isWellFormed()) return JSON.stringify(value);
  throw malformedRecord('a text in it ends within a character');
}

function integer(value: number): string {
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value);
  throw malformedRecord('a number in it is no safe integer');
}
