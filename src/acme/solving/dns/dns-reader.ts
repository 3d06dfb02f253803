// SPDX-License-Identifier: Apache-2.0
import * as messages from '../messages.ts';

/** Limit of RFC 1035 §2.3.4, with the root label. */
const MAX_NAME_OCTETS = 255;
/** Limit of RFC 1035 §2.3.4. */
const MAX_LABEL_OCTETS = 63;
/** First of the octets that start a compression pointer (RFC 1035 §4.1.4). */
const POINTER = 0xc0;
/**
 * Limit on compression pointers of a name, the same as in miekg/dns. A name has at most 127 labels
 * beside its root, and a sender that compresses names has no use for a pointer to a pointer.
 */
const MAX_POINTERS = 126;

/**
 * Reads the wire format of an untrusted DNS message (RFC 1035 §4) from its start. Every read throws
 * beyond the end.
 */
export class DnsReader {
  readonly #message: Buffer;
  #at = 0;

  constructor(message: Buffer) {
    this.#message = message;
  }

  uint16(): number {
    const at = this.skip(2);
    return this.#message.readUInt16BE(at);
  }

  /** Skips octets. @returns their start */
  skip(octets: number): number {
    const start = this.#at;
    if (start + octets > this.#message.length) throw new Error(messages.DNS_CUT);
    this.#at += octets;
    return start;
  }

  /** Skips a name and follows no pointer. @returns the start of the name, for {@link nameAt} */
  skipName(): number {
    const start = this.#at;
    for (;;) {
      const length = this.#labelLength(this.skip(1), this.#message.length);
      if (length === 0) return start;
      if (length >= POINTER) {
        this.skip(1);
        return start;
      }
      this.skip(length);
    }
  }

  octets(start: number, end: number): Buffer {
    return this.#message.subarray(start, end);
  }

  /**
   * Returns a name without a final dot, one character an octet. A dot or backslash in a label has a
   * backslash before it (RFC 1035 §5.1).
   *
   * @param end - end of the record that has the name
   */
  nameAt(start: number, end: number): string {
    const labels: string[] = [];
    let [at, lowest, octets, pointers] = [start, start, 1, 0];
    for (;;) {
      const length = this.#labelLength(at, end);
      if (length === 0) return labels.join('.');
      if (length >= POINTER) {
        pointers += 1;
        if (pointers > MAX_POINTERS) throw new Error(messages.DNS_POINTERS);
        at = ((length & ~POINTER) << 8) | this.#octet(at + 1, end);
        if (at >= lowest) throw new Error(messages.DNS_POINTER);
        lowest = at;
        continue;
      }
      octets += 1 + length;
      if (octets > MAX_NAME_OCTETS) throw new Error(messages.DNS_NAME);
      const label = this.#message.toString('latin1', at + 1, at + 1 + length);
      labels.push(label.replace(/[.\\]/g, '\\$&'));
      at += 1 + length;
    }
  }

  /** Returns the length of a label, or the first octet of a pointer. */
  #labelLength(at: number, end: number): number {
    const length = this.#octet(at, end);
    if (length > MAX_LABEL_OCTETS && length < POINTER) throw new Error(messages.DNS_LABEL);
    return length;
  }

  #octet(at: number, end: number): number {
    const octet = at < end ? this.#message[at] : undefined;
    if (octet === undefined) throw new Error(messages.DNS_CUT);
    return octet;
  }
}
