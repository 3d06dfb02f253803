// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import type { MessageReader } from './reader.ts';
import { integerField, message } from './writer.ts';

/** Reads a `metav1.Time` as the text that JSON has. @throws SyntaxError */
export function readTime(fields: MessageReader): string {
  let seconds = 0;
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) seconds = fields.integer();
    else fields.skip();
  }
  return textOf(seconds);
}

/**
 * The size of the cache. Objects that arrive together were created in the same few seconds, so most
 * texts are cached.
 */
const MAX_CACHED_TIMES = 64;
const texts = new BoundedMap<number, string>(MAX_CACHED_TIMES);

function textOf(seconds: number): string {
  const known = texts.get(seconds);
  if (known !== undefined) return known;
  const made = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  texts.set(seconds, made);
  return made;
}

/** Encodes a `metav1.Time`. @param text - RFC 3339, not before 1970 */
export function timeMessage(text: string): Uint8Array {
  return message(integerField(1, Math.floor(Date.parse(text) / 1000)));
}
