// SPDX-License-Identifier: Apache-2.0

/** Octets of an IPv4 address, and of an IPv6 address. */
const IPV4_OCTETS = 4;
const IPV6_OCTETS = 16;

/**
 * Reads an IP address in the form of RFC 4291 §2.2. It accepts no zones, leading zeros of IPv4
 * numbers, brackets, or prefixes. IPv4-mapped addresses stay IPv6, see {@link isIpv4Mapped}.
 *
 * @returns 4 or 16 octets, or undefined if `text` is not an address
 */
export function parseIp(text: string): Uint8Array | undefined {
  const octets = text.includes(':') ? readIpv6(text) : readIpv4(text);
  return octets === undefined ? undefined : Uint8Array.from(octets);
}

const DECIMAL_OCTET = /^(?:0|[1-9][0-9]{0,2})$/;

function readIpv4(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== IPV4_OCTETS || !parts.every((part) => DECIMAL_OCTET.test(part))) {
    return undefined;
  }
  const octets = parts.map(Number);
  return octets.every((octet) => octet <= 255) ? octets : undefined;
}

function readIpv6(text: string): readonly number[] | undefined {
  const [before = '', after, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const head = readGroups(before, after === undefined);
  if (head === undefined) return undefined;
  if (after === undefined) return head.length === IPV6_OCTETS ? head : undefined;
  const tail = readGroups(after, true);
  return tail === undefined ? undefined : joinAtGap(head, tail);
}

/** Fills the gap of `::`, which stands for at least one group of zeros. */
function joinAtGap(
  head: readonly number[],
  tail: readonly number[],
): readonly number[] | undefined {
  const zeros = IPV6_OCTETS - head.length - tail.length;
  return zeros < 2 ? undefined : [...head, ...Array<number>(zeros).fill(0), ...tail];
}

const HEXADECIMAL_GROUP = /^[0-9A-Fa-f]{1,4}$/;

/** @param isEnd - whether the address ends here, so that the last 32 bits may be IPv4 */
function readGroups(text: string, isEnd: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const octets: number[] = [];
  for (const [index, part] of parts.entries()) {
    const group = HEXADECIMAL_GROUP.test(part)
      ? toOctets(Number.parseInt(part, 16))
      : isEnd && index === parts.length - 1
        ? readIpv4(part)
        : undefined;
    if (group === undefined) return undefined;
    octets.push(...group);
  }
  return octets;
}

function toOctets(group: number): readonly number[] {
  return [group >> 8, group & 0xff];
}

/**
 * Returns the canonical text of an address (RFC 5952 §4 and §5).
 *
 * @param octets - in network order
 * @returns undefined unless there are 4 or 16 octets
 */
export function formatIp(octets: Uint8Array): string | undefined {
  if (octets.length === IPV4_OCTETS) return octets.join('.');
  if (octets.length !== IPV6_OCTETS) return undefined;
  if (isIpv4Mapped(octets)) return `::ffff:${octets.subarray(12).join('.')}`;
  const groups = Array.from({ length: IPV6_OCTETS / 2 }, (_each, index) =>
    (((octets[2 * index] ?? 0) << 8) | (octets[2 * index + 1] ?? 0)).toString(16),
  );
  const zeros = longestZeros(groups);
  if (zeros.length < 2) return groups.join(':');
  const before = groups.slice(0, zeros.start).join(':');
  return `${before}::${groups.slice(zeros.start + zeros.length).join(':')}`;
}

/** Returns the first of the longest runs of zero groups (RFC 5952 §4.2.3). */
function longestZeros(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== '0') start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  return best;
}

/**
 * Reports whether the octets are an IPv4-mapped IPv6 address, `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2).
 * Some verifiers treat it as a.b.c.d, and some do not.
 */
export function isIpv4Mapped(octets: Uint8Array): boolean {
  if (octets.length !== IPV6_OCTETS) return false;
  return octets.subarray(0, 12).every((octet, index) => octet === (index < 10 ? 0 : 0xff));
}
