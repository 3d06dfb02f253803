// SPDX-License-Identifier: Apache-2.0
import { inputError } from './input-error.ts';

/**
 * The limit of a text: etcd's default limit for a request, 1.5 MiB, which bounds every object of
 * the API.
 */
const MAX_PEM_CHARACTERS = 1_572_864;

/** The limit of blocks in one text. The smallest certificate has about 400 characters of PEM. */
const MAX_BLOCKS = MAX_PEM_CHARACTERS / 384;

/** Characters on each line but the last (RFC 7468 §2). */
const LINE_LENGTH = 64;

/**
 * The BEGIN line. No label in use is longer than 64 characters, although Go reads any. A newline
 * ends the line.
 */
const BEGIN = /-----BEGIN ([A-Z0-9][A-Z0-9 ]{0,63})-----[ \t]*\r?\n/y;

/** Padded base64. The length, a multiple of four, is checked apart (RFC 4648 §4). */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The beginning of each BEGIN and END line. */
const DASHES = '-----';

/** A byte order mark as UTF-16 text, or as the Latin-1 text of its UTF-8 octets. */
const BYTE_ORDER_MARK = /^(?:\ufeff|\u00ef\u00bb\u00bf)/;

/** The rest of an END line after the dashes: blanks, then a newline or the end of the text. */
const END_OF_LINE = /[ \t]*(?:\r?\n|$)/y;

/** One encapsulated text (RFC 7468 §2). */
export interface PemBlock {
  /** The label, as in `CERTIFICATE`. */
  readonly label: string;
  /** The decoded base64. It may be other than DER. */
  readonly der: Uint8Array;
}

/**
 * Reads a text with exactly one block, which has this label (RFC 7468). A second block is an error,
 * because of two blocks some readers use the first and some the last. Skips other text as
 * {@link readPemBlocks} does.
 *
 * @returns the decoded base64
 * @throws SignerError PEM_MALFORMED
 */
export function decodePem(text: string, label: string): Uint8Array {
  const [first] = ofLabel(readPemBlocks(text, 1), label);
  if (first === undefined)
    throw malformed(`there is no ${label} block; check that the text is PEM`);
  return first;
}

/**
 * Reads a text of any number of blocks with this label. Skips other text as {@link readPemBlocks}
 * does.
 *
 * @returns the decoded base64 of each block in order, or nothing for a blank text
 * @throws SignerError PEM_MALFORMED
 */
export function decodePemAll(text: string, label: string): readonly Uint8Array[] {
  return ofLabel(readPemBlocks(text), label);
}

function ofLabel(blocks: readonly PemBlock[], label: string): readonly Uint8Array[] {
  return blocks.map((block) => {
    if (block.label !== label) throw malformed(`found a ${block.label} block, expected ${label}`);
    return block.der;
  });
}

/**
 * Reads the blocks of a text. Skips the text before, between and after them (RFC 7468 §2), as
 * `openssl x509 -text` and `openssl pkcs12` write it. That text has no run of five dashes and no
 * NUL, so that no reader finds a block in it, or stops there. The cost is linear: each character is
 * read a fixed number of times.
 *
 * @param most - the most blocks that are accepted
 * @returns the blocks in order, or none for a blank text
 * @throws SignerError PEM_MALFORMED, also for a text that is not blank and has no block
 */
export function readPemBlocks(text: string, most = MAX_BLOCKS): readonly PemBlock[] {
  requireText(text);
  const blocks: PemBlock[] = [];
  for (let at = text.indexOf(DASHES); at !== -1;) {
    const label = labelAt(text, at);
    const start = BEGIN.lastIndex;
    const end = `-----END ${label}-----`;
    const stop = text.indexOf(DASHES, start);
    if (stop === -1 || !text.startsWith(end, stop))
      throw malformed(`the block does not end with "${end}"`);
    if (blocks.length >= most) throw malformed(tooMany(most, label));
    blocks.push({ label, der: decodeBody(text.slice(start, stop), label) });
    END_OF_LINE.lastIndex = stop + end.length;
    if (!END_OF_LINE.test(text)) throw malformed(`"${end}" is not alone on its line`);
    at = text.indexOf(DASHES, END_OF_LINE.lastIndex);
  }
  if (blocks.length === 0 && text.trim() !== '') {
    throw malformed(`there is no "-----BEGIN" line; ${CONVERT}`);
  }
  return blocks;
}

function requireText(text: string): void {
  if (text.length > MAX_PEM_CHARACTERS) {
    throw malformed(`the text has ${text.length} characters, more than ${MAX_PEM_CHARACTERS}`);
  }
  if (text.includes('\0')) throw malformed(`the text has a NUL, so it is not PEM; ${CONVERT}`);
}

/** The remedy for a file that may be DER. */
const CONVERT =
  'if it is DER, convert it ("openssl x509 -inform der", or "openssl req -inform der")';

/**
 * Returns the label of the BEGIN line at a position. Sets `BEGIN.lastIndex` to the end of that
 * line.
 */
function labelAt(text: string, at: number): string {
  if (at > 0 && text[at - 1] !== '\n') {
    const [mark] = BYTE_ORDER_MARK.exec(text) ?? [];
    // OpenSSL skips the mark. Go finds no block behind it, and so does the API server.
    if (mark?.length === at) {
      throw malformed(
        'a byte order mark is before the first block, which Go does not read; save the text as UTF-8 without it ("sed -i \'1s/^\\xEF\\xBB\\xBF//\' FILE")',
      );
    }
    throw malformed(`the block at character ${at} does not begin on a line of its own`);
  }
  BEGIN.lastIndex = at;
  const label = BEGIN.exec(text)?.[1];
  if (label === undefined) {
    throw malformed(
      `expected a BEGIN line at character ${at}; text around blocks has no run of five dashes`,
    );
  }
  return label;
}

function decodeBody(body: string, label: string): Uint8Array {
  if (body.includes(':')) throw malformed(`the ${label} block has headers`);
  if (!body.endsWith('\n')) {
    throw malformed(`the END of the ${label} block is not on a line of its own`);
  }
  const base64 = body.replaceAll(/[\r\n \t]+/g, '');
  // Node skips characters that are not base64, and Go rejects them. All ignore spare bits that are
  // set (RFC 4648 §3.5).
  if (base64 === '' || base64.length % 4 !== 0 || !BASE64.test(base64)) {
    throw malformed(`the ${label} block is not valid base64`);
  }
  return Buffer.from(base64, 'base64');
}

function tooMany(most: number, label: string): string {
  return most === 1 ? `there is more than one ${label} block` : `there are over ${most} blocks`;
}

/**
 * Writes one block of PEM (RFC 7468): 64 characters a line, a newline at the end.
 *
 * @param label - as in `CERTIFICATE`
 */
export function encodePem(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der.buffer, der.byteOffset, der.length).toString('base64');
  const lines: string[] = [];
  for (let at = 0; at < base64.length; at += LINE_LENGTH) {
    lines.push(base64.slice(at, at + LINE_LENGTH));
  }
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

function malformed(message: string): Error {
  return inputError('PEM_MALFORMED', `not valid PEM: ${message}`);
}
