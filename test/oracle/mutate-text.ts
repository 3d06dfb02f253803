// SPDX-License-Identifier: Apache-2.0
import type { Dice } from './dice.ts';
import { mutateBytes } from './mutate-bytes.ts';

/** What PEM is made of, and what readers take for it. */
const PIECES = [
  '-----',
  '----',
  '-----BEGIN CERTIFICATE-----',
  '-----BEGIN CERTIFICATE REQUEST-----',
  '-----END CERTIFICATE-----\n',
  '-----END CERTIFICATE REQUEST-----\n',
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  ' ',
  '\t',
  '\f',
  '\v',
  '=',
  '==',
  'A',
  ':',
  'a: b\n',
  '\n\n-----',
  '\u00a0',
];

/** One change of a text: a piece put in or taken out, or an octet changed. */
export function mutateText(text: Uint8Array, dice: Dice): Uint8Array {
  const latin1 = Buffer.from(text).toString('latin1');
  const piece = dice.of(PIECES);
  // Near what is already there that is like it, most of the time.
  const found = latin1.indexOf(piece, dice.roll(latin1.length + 1));
  const at = found === -1 ? dice.roll(latin1.length + 1) : found;
  const end = at + (dice.roll(2) === 0 ? piece.length : 0);
  if (dice.roll(3) === 0) return mutateBytes(text, dice);
  return Buffer.from(latin1.slice(0, at) + dice.of(PIECES) + latin1.slice(end), 'latin1');
}
