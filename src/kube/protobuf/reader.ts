// SPDX-License-Identifier: Apache-2.0

/** Wire types (protobuf.dev, Encoding). Groups are deprecated and not read. */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** Ten octets of seven bits hold 64. */
const MAX_VARINT_OCTETS = 10;
/** The number of octets of seven bits that are exact in a double. */
const EXACT_OCTETS = 7;

/**
 * Reads the fields of one protobuf message in order, each once.
 *
 * Throws a SyntaxError if the message is cut off or invalid. Callers skip the fields that they do
 * not know, as every reader of protobuf must.
 */
export class MessageReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #wire = VARINT;

  /**
   * @param start - the position in `bytes` at which the message begins
   * @param end - the position at which it ends
   */
  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = start;
    this.#end = end;
  }

  /** Returns the number of the next field, whose value must be read or skipped. 0 at the end. */
  next(): number {
    if (this.#at === this.#end) return 0;
    const tag = this.#varint();
    const field = Math.floor(tag / 8);
    if (field === 0) throw new SyntaxError('protobuf: field number 0 is invalid');
    this.#wire = tag % 8;
    return field;
  }

  /** Reads an integer. An int64 beyond 2⁵³ loses digits, but no field in use has such values. */
  integer(): number {
    this.#expect(VARINT);
    return this.#varint();
  }

  string(): string {
    const { start, end } = this.#delimited();
    return this.#bytes.toString('utf8', start, end);
  }

  base64(): string {
    const { start, end } = this.#delimited();
    return this.#bytes.toString('base64', start, end);
  }

  /** Returns a view of the bytes. */
  bytes(): Buffer {
    const { start, end } = this.#delimited();
    return this.#bytes.subarray(start, end);
  }

  /**
   * Returns a nested message. It shares the bytes, because a view for each would cost more than
   * reading most of them.
   */
  message(): MessageReader {
    const { start, end } = this.#delimited();
    return new MessageReader(this.#bytes, start, end);
  }

  skip(): void {
    if (this.#wire === VARINT) this.#varint();
    else if (this.#wire === LENGTH_DELIMITED) this.#delimited();
    else if (this.#wire === FIXED64) this.#pass(8);
    else if (this.#wire === FIXED32) this.#pass(4);
    else throw new SyntaxError(`protobuf: wire type ${this.#wire} is unknown`);
  }

  #delimited(): { readonly start: number; readonly end: number } {
    this.#expect(LENGTH_DELIMITED);
    const length = this.#varint();
    const start = this.#at;
    this.#pass(length);
    return { start, end: this.#at };
  }

  #pass(length: number): void {
    if (!(length >= 0 && length <= this.#end - this.#at)) {
      throw new SyntaxError('protobuf: a value is longer than its message');
    }
    this.#at += length;
  }

  #expect(wire: number): void {
    if (this.#wire !== wire)
      throw new SyntaxError(`protobuf: wire type ${this.#wire} instead of ${wire}`);
  }

  #varint(): number {
    const start = this.#at;
    let value = 0;
    let weight = 1;
    for (let octets = 1; octets <= MAX_VARINT_OCTETS; octets++) {
      const octet = this.#at < this.#end ? this.#bytes[this.#at++] : undefined;
      if (octet === undefined) throw new SyntaxError('protobuf: a varint is cut off');
      value += (octet & 0x7f) * weight;
      weight *= 0x80;
      if (octet < 0x80) return octets <= EXACT_OCTETS ? value : this.#long(start);
    }
    throw new SyntaxError('protobuf: a varint is longer than 64 bits');
  }

  /** Reads a varint of more than 49 bits. Negative ones have ten octets. */
  #long(start: number): number {
    let value = 0n;
    for (let at = this.#at - 1; at >= start; at--) {
      value = value * 0x80n + BigInt((this.#bytes[at] ?? 0) & 0x7f);
    }
    return Number(BigInt.asIntN(64, value));
  }
}
