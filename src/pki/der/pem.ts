// SPDX-License-Identifier: Apache-2.0
import { inputError } from './input-error.ts';

/** The most that a ConfigMap, a Secret or a CertificateSigningRequest can hold (etcd's limit). */
const MAX_PEM_CHARACTERS = 1_572_864;

/** Blocks of a text: the smallest certificate has some 400 characters. */
const MAX_BLOCKS = MAX_PEM_CHARACTERS / 384;

/** RFC 7468 §2: strict writers put 64 characters on a line. */
const LINE = 64;

/** A label never has more; Go reads any. Its line, as every line, ends with a newline at last. */
const BEGIN = /-----BEGIN ([A-Z0-9][A-Z0-9 ]{0,63})-----[ \t]*\r?\n/y;

const BLANKS = /[ \t\r\n]*/y;

/** What may follow the dashes of an END line. */
const END_OF_LINE = /[ \t]*(?:\r?\n|$)/y;

export interface PemBlock {
  readonly label: string;
  readonly der: Uint8Array;
}

/**
 * The one block of a text, which must have this label. Anything else in the text is refused rather
 * than skipped: what we read must be what everybody else reads.
 *
 * @throws SignerError PEM_MALFORMED
 */
export function decodePem(text: string, label: string): Uint8Array {
  const [first] = ofLabel(readPemBlocks(text, 1), label);
  if (first === undefined) throw malformed(`there is no ${label} block; is it PEM at all?`);
  return first;
}

/** Every block of a text in order, all of one label; nothing but blanks between them. */
export function decodePemAll(text: string, label: string): readonly Uint8Array[] {
  return ofLabel(readPemBlocks(text), label);
}

function ofLabel(blocks: readonly PemBlock[], label: string): readonly Uint8Array[] {
  return blocks.map((block) => {
    if (block.label !== label) throw malformed(`a ${block.label} block where a ${label} belongs`);
    return block.der;
  });
}

/**
 * Every block of a text, of which there may be so many. Cost is linear: each character is looked at a
 * fixed number of times.
 */
export function readPemBlocks(text: string, most = MAX_BLOCKS): readonly PemBlock[] {
  if (text.length > MAX_PEM_CHARACTERS) {
    throw malformed(`${text.length} characters are more than ${MAX_PEM_CHARACTERS}`);
  }
  const blocks: PemBlock[] = [];
  for (let at = skipBlanks(text, 0); at < text.length;) {
    const label = labelAt(text, at);
    const start = BEGIN.lastIndex;
    const end = `-----END ${label}-----`;
    const stop = text.indexOf('-----', start);
    if (stop === -1 || !text.startsWith(end, stop)) throw malformed(`no "${end}" ends the block`);
    if (blocks.length >= most) throw malformed(tooMany(most, label));
    blocks.push({ label, der: decodeBody(text.slice(start, stop), label) });
    END_OF_LINE.lastIndex = stop + end.length;
    if (!END_OF_LINE.test(text)) throw malformed(`"${end}" is not alone on its line`);
    at = skipBlanks(text, END_OF_LINE.lastIndex);
  }
  return blocks;
}

/** Of the BEGIN line at a position; the reading goes on where it ends. */
function labelAt(text: string, at: number): string {
  if (at > 0 && text[at - 1] !== '\n') {
    throw malformed(`the block at character ${at} does not begin a line`);
  }
  BEGIN.lastIndex = at;
  const label = BEGIN.exec(text)?.[1];
  if (label === undefined) throw malformed(`something else than a PEM block at character ${at}`);
  return label;
}

function decodeBody(body: string, label: string): Uint8Array {
  if (body.includes(':')) throw malformed(`the ${label} block has headers`);
  if (!body.endsWith('\n')) {
    throw malformed(`the END line of the ${label} block does not begin a line`);
  }
  const base64 = body.replaceAll(/[\r\n \t]+/g, '');
  const der = Buffer.from(base64, 'base64');
  // Node skips what is not base64; Go does not. Only the canonical text is read by both alike.
  if (base64 === '' || der.toString('base64') !== base64) {
    throw malformed(`the ${label} block is not valid base64`);
  }
  return der;
}

function tooMany(most: number, label: string): string {
  return most === 1 ? `there is more than one ${label} block` : `there are over ${most} blocks`;
}

function skipBlanks(text: string, from: number): number {
  BLANKS.lastIndex = from;
  BLANKS.test(text);
  return BLANKS.lastIndex;
}

export function encodePem(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der.buffer, der.byteOffset, der.length).toString('base64');
  const lines: string[] = [];
  for (let at = 0; at < base64.length; at += LINE) lines.push(base64.slice(at, at + LINE));
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

function malformed(message: string): Error {
  return inputError('PEM_MALFORMED', `not valid PEM: ${message}`);
}
