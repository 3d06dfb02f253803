// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import { TAG_SEQUENCE } from './der-tags.ts';
import { malformed } from './input-error.ts';

/**
 * More length octets than this would say more than 4 GiB: nobody can have sent us so many, and
 * numbers beyond 2³¹ are where careless arithmetic goes wrong.
 */
const MAX_LENGTH_OCTETS = 4;

/**
 * Reads one level of DER: the elements between two positions of a buffer, each once, in order.
 *
 * It does not recurse: an element's contents are read only where the grammar of the caller enters
 * them, so that nesting is as deep as our grammars are and no deeper, whatever the bytes say. No
 * byte is copied; what it returns are views.
 */
export class DerReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #what: string;
  #at: number;
  /** Where the contents of the element read last begin. */
  #contents = 0;

  /** @param what - what is read, for messages */
  constructor(bytes: Uint8Array, what: string, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#what = what;
    this.#at = start;
    this.#end = end;
  }

  isDone(): boolean {
    return this.#at >= this.#end;
  }

  /** The next identifier octet is this one. */
  at(tag: number): boolean {
    return this.#at < this.#end && this.#bytes[this.#at] === tag;
  }

  /** The next identifier octet, or undefined at the end. */
  peek(): number | undefined {
    return this.isDone() ? undefined : this.#bytes[this.#at];
  }

  /** The contents of the next element, which must have this tag. */
  read(tag: number, what: string): Uint8Array {
    const end = this.#next(tag, what);
    return this.#bytes.subarray(this.#contents, end);
  }

  /** A reader over the contents of the next element, which must have this tag. */
  enter(tag: number, what: string): DerReader {
    const end = this.#next(tag, what);
    return new DerReader(this.#bytes, what, this.#contents, end);
  }

  sequence(what: string): DerReader {
    return this.enter(TAG_SEQUENCE, what);
  }

  /** The next element with its header, unread; of this tag if one is given. */
  raw(what: string, tag?: number): Uint8Array {
    const start = this.#at;
    return this.#bytes.subarray(start, this.#next(tag, what));
  }

  /** Nothing may be left. */
  finish(): void {
    if (!this.isDone()) throw this.malformed(`${this.#what} has trailing bytes`);
  }

  malformed(message: string): SignerError {
    return malformed(`${message} (byte ${this.#at})`);
  }

  /** Passes the next element and returns its end. */
  #next(tag: number | undefined, what: string): number {
    const found = this.peek();
    if (found === undefined) throw this.malformed(`${what} is missing`);
    if (tag !== undefined && found !== tag) {
      throw this.malformed(`${what} has tag 0x${hex(found)} instead of 0x${hex(tag)}`);
    }
    if ((found & 0x1f) === 0x1f) throw this.malformed(`${what} has a tag number above 30`);
    const length = this.#length(what);
    const end = this.#contents + length;
    if (end > this.#end) throw this.malformed(`${what} is longer than what holds it`);
    this.#at = end;
    return end;
  }

  #length(what: string): number {
    const first = this.#octet(this.#at + 1, what);
    this.#contents = this.#at + 2;
    if (first < 0x80) return first;
    const count = first & 0x7f;
    if (count === 0) throw this.malformed(`${what} has an indefinite length, which is not DER`);
    if (count > MAX_LENGTH_OCTETS) throw this.malformed(`${what} has too long a length`);
    let length = 0;
    for (let i = 0; i < count; i++) {
      length = length * 256 + this.#octet(this.#contents + i, what);
    }
    this.#contents += count;
    const least = count === 1 ? 0x80 : 256 ** (count - 1);
    if (length < least) throw this.malformed(`${what} has a length that is not minimal`);
    return length;
  }

  #octet(position: number, what: string): number {
    const octet = position < this.#end ? this.#bytes[position] : undefined;
    if (octet === undefined) throw this.malformed(`${what} is cut off`);
    return octet;
  }
}

/** Reads a whole input: one SEQUENCE and nothing after it, of at most `limit` bytes. */
export function readWhole(bytes: Uint8Array, what: string, limit: number): DerReader {
  if (bytes.length > limit) {
    throw new SignerError({
      code: 'DER_LIMIT',
      disposition: 'fail',
      message: `${what} has ${bytes.length} bytes, more than ${limit}`,
    });
  }
  const outer = new DerReader(bytes, what);
  const inner = outer.sequence(what);
  outer.finish();
  return inner;
}

function hex(octet: number): string {
  return octet.toString(16).padStart(2, '0');
}
