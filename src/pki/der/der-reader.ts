// SPDX-License-Identifier: Apache-2.0
import type { SignerError } from '#base/errors.ts';
import { TAG_SEQUENCE } from './der-tags.ts';
import { inputError, malformed } from './input-error.ts';

/**
 * The limit of length octets. More mean more than 4 GiB. No input is so long, and careless
 * arithmetic fails on integers beyond 2³¹.
 */
const MAX_LENGTH_OCTETS = 4;

/**
 * Reads one level of DER (X.690 §8.1, §10.1): the elements between two positions of a buffer, each
 * once, in order.
 *
 * It does not recurse. It reads an element's contents only if the caller's grammar enters them, so
 * hostile nesting costs nothing. It copies no byte: it returns views of the buffer.
 *
 * Methods that read take `what`, the name of the value in messages. They throw SignerError
 * DER_MALFORMED when the next element is missing, has another tag, or is not DER.
 */
export class DerReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #what: string;
  #at: number;
  /** The start of the contents of the last element that was read. */
  #contents = 0;

  /**
   * @param what - the name of the value in messages
   * @param start - the offset of the first element
   * @param end - the offset after the last element
   */
  constructor(bytes: Uint8Array, what: string, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#what = what;
    this.#at = start;
    this.#end = end;
  }

  /** Reports whether every element has been read. */
  isDone(): boolean {
    return this.#at >= this.#end;
  }

  /** Reports whether the next identifier octet is `tag`. */
  at(tag: number): boolean {
    return this.#at < this.#end && this.#bytes[this.#at] === tag;
  }

  /** Returns the next identifier octet, or undefined at the end. */
  peek(): number | undefined {
    return this.isDone() ? undefined : this.#bytes[this.#at];
  }

  /** Reads the contents of the next element, which must have this tag. */
  read(tag: number, what: string): Uint8Array {
    const end = this.#next(tag, what);
    return this.#bytes.subarray(this.#contents, end);
  }

  /** Returns a reader over the contents of the next element, which must have this tag. */
  enter(tag: number, what: string): DerReader {
    const end = this.#next(tag, what);
    return new DerReader(this.#bytes, what, this.#contents, end);
  }

  /** Returns a reader over the contents of the next element, which must be a SEQUENCE. */
  sequence(what: string): DerReader {
    return this.enter(TAG_SEQUENCE, what);
  }

  /**
   * Reads the next element with its header, without checking its contents. It must have `tag` if
   * one is given.
   */
  raw(what: string, tag?: number): Uint8Array {
    const start = this.#at;
    return this.#bytes.subarray(start, this.#next(tag, what));
  }

  /** Throws if an element is left. */
  finish(): void {
    if (!this.isDone()) throw this.malformed(`${this.#what} has trailing bytes`);
  }

  /** Returns a DER_MALFORMED with the current offset, to be thrown. */
  malformed(message: string): SignerError {
    return malformed(`${message} (byte ${this.#at})`);
  }

  /** Skips the next element and returns its end. */
  #next(tag: number | undefined, what: string): number {
    const found = this.peek();
    if (found === undefined) throw this.malformed(`${what} is missing`);
    if (tag !== undefined && found !== tag) {
      throw this.malformed(`${what} has tag 0x${hex(found)} instead of 0x${hex(tag)}`);
    }
    if ((found & 0x1f) === 0x1f) throw this.malformed(`${what} has a tag number above 30`);
    const length = this.#length(what);
    const end = this.#contents + length;
    if (end > this.#end) throw this.malformed(`${what} is longer than the element that holds it`);
    this.#at = end;
    return end;
  }

  #length(what: string): number {
    const first = this.#octet(this.#at + 1, what);
    this.#contents = this.#at + 2;
    if (first < 0x80) return first;
    const count = first & 0x7f;
    if (count === 0) throw this.malformed(`${what} has an indefinite length, which is not DER`);
    if (count > MAX_LENGTH_OCTETS)
      throw this.malformed(`${what} has a length field of more than 4 octets`);
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

/**
 * Reads a whole input: one SEQUENCE and nothing after it.
 *
 * @param what - the name of the value in messages
 * @param limit - the most bytes that the input may have
 * @returns a reader over the contents of the SEQUENCE
 * @throws SignerError DER_MALFORMED, or DER_LIMIT above `limit`
 */
export function readWhole(bytes: Uint8Array, what: string, limit: number): DerReader {
  if (bytes.length > limit) {
    throw inputError('DER_LIMIT', `${what} has ${bytes.length} bytes, more than ${limit}`);
  }
  const outer = new DerReader(bytes, what);
  const inner = outer.sequence(what);
  outer.finish();
  return inner;
}

function hex(octet: number): string {
  return octet.toString(16).padStart(2, '0');
}
