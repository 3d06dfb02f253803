// SPDX-License-Identifier: Apache-2.0

/** An IP address as Go's netip has it: IPv4 and IPv6 are different, there are no zones. */
export class Address {
  readonly family: 4 | 6;
  /** Big endian. */
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    this.family = family;
    this.bits = bits;
  }

  get width(): number {
    return this.family === 4 ? 32 : 128;
  }
}

/**
 * Reads an address as Kubernetes' `ip()` does: no leading zeros, no zone, no IPv4-mapped IPv6
 * (which would let one address pass for two).
 */
export function parseAddress(text: string): Address | undefined {
  if (!text.includes(':')) return parseV4(text);
  const bits = parseV6(text);
  return bits === undefined || bits >> 32n === 0xffffn ? undefined : new Address(6, bits);
}

function parseV4(text: string): Address | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bits = (bits << 8n) | BigInt(part);
  }
  return new Address(4, bits);
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  // What stands before a gap is not the end: no IPv4 address there.
  const [head, tail] = halves.map((half, index) => groups(half, index === halves.length - 1));
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 8 ? join(head) : undefined;
  if (tail === undefined || head.length + tail.length > 7) return undefined;
  return join([...head, ...Array<bigint>(8 - head.length - tail.length).fill(0n), ...tail]);
}

/** Groups of 16 bits; the last of an address may be an IPv4 address, which is two. */
function groups(text: string, isEnd: boolean): readonly bigint[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const found: bigint[] = [];
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      found.push(BigInt(`0x${part}`));
      continue;
    }
    const v4 = isEnd && index === parts.length - 1 ? parseV4(part) : undefined;
    if (v4 === undefined) return undefined;
    found.push(v4.bits >> 16n, v4.bits & 0xffffn);
  }
  return found;
}

function join(parts: readonly bigint[]): bigint {
  return parts.reduce((bits, part) => (bits << 16n) | part, 0n);
}

/** RFC 5952: lower case, the longest run of two or more zero groups cut short. */
export function formatAddress({ family, bits }: Address): string {
  if (family === 4) {
    return [24n, 16n, 8n, 0n].map((shift) => ((bits >> shift) & 0xffn).toString()).join('.');
  }
  const parts = Array.from({ length: 8 }, (_, index) =>
    ((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  const [start, length] = longestZeroRun(parts);
  if (length < 2) return parts.join(':');
  return `${parts.slice(0, start).join(':')}::${parts.slice(start + length).join(':')}`;
}

function longestZeroRun(parts: readonly string[]): [start: number, length: number] {
  let best: [number, number] = [0, 0];
  let start = 0;
  for (const [index, part] of parts.entries()) {
    if (part !== '0') start = index + 1;
    else if (index + 1 - start > best[1]) best = [start, index + 1 - start];
  }
  return best;
}
