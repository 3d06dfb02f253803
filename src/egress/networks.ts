// SPDX-License-Identifier: Apache-2.0
import { usageError } from '../errors.ts';
import { formatIp, parseIp } from '../ip.ts';

/** Addresses that share their first bits. */
export interface Network {
  readonly octets: Uint8Array;
  /** How many bits they share. */
  readonly bits: number;
}

/**
 * Reads a network as RFC 4632 §3.1 and RFC 4291 §2.3 write it, `10.0.0.0/8`; a single address is a network, too.
 *
 * @throws SignerError USAGE
 */
export function parseNetwork(text: string): Network {
  const [address = '', length, ...more] = text.split('/');
  const octets = parseIp(address);
  const most = (octets?.length ?? 0) * 8;
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : NaN;
  if (octets === undefined || more.length > 0 || !(bits <= most)) {
    throw usageError(
      `${JSON.stringify(text.slice(0, 80))} is no network; write 10.0.0.0/8, fd00::/8 or one address`,
    );
  }
  return { octets, bits };
}

function network(text: string, what: string): Network & { readonly what: string } {
  return { ...parseNetwork(text), what };
}

/**
 * IPv4 networks that are no part of the Internet, by the registry of special-purpose addresses (RFC 6890 and its
 * updates): "globally reachable" is false there.
 */
const SPECIAL_IPV4 = [
  network('0.0.0.0/8', 'this host'),
  network('10.0.0.0/8', 'a private network'),
  network('100.64.0.0/10', 'a carrier’s shared network'),
  network('127.0.0.0/8', 'the loopback interface'),
  // Metadata of cloud providers is at 169.254.169.254.
  network('169.254.0.0/16', 'link-local'),
  network('172.16.0.0/12', 'a private network'),
  network('192.0.0.0/24', 'reserved for protocols'),
  network('192.0.2.0/24', 'for documentation'),
  network('192.88.99.0/24', 'a relay of 6to4'),
  network('192.168.0.0/16', 'a private network'),
  network('198.18.0.0/15', 'for benchmarks'),
  network('198.51.100.0/24', 'for documentation'),
  network('203.0.113.0/24', 'for documentation'),
  network('224.0.0.0/4', 'multicast'),
  network('240.0.0.0/4', 'reserved'),
] as const;

/** IPv6 outside of 2000::/3 is no part of the Internet. These are the exceptions within it. */
const GLOBAL_IPV6 = parseNetwork('2000::/3');
const SPECIAL_IPV6 = [
  // Teredo, ORCHID and others; what is globally reachable in it serves no HTTP.
  network('2001::/23', 'reserved for protocols'),
  network('2001:db8::/32', 'for documentation'),
  network('3fff::/20', 'for documentation'),
] as const;

/** Where an IPv4 address is within an IPv6 address, and a packet can come out at it. */
const EMBEDDED_IPV4 = [
  { ...network('::ffff:0.0.0.0/96', 'IPv4-mapped'), at: 12 },
  { ...network('64:ff9b::/96', 'NAT64'), at: 12 },
  { ...network('2002::/16', '6to4'), at: 2 },
] as const;

/**
 * Why nothing is asked of an address: it is no part of the Internet, and none of `allowed` has it. An address that has
 * an IPv4 address within it is that address, too.
 *
 * @param address - 4 or 16 octets
 * @param allowed - networks that may be asked in spite of that
 * @returns undefined where it may be asked
 */
export function refusalOf(address: Uint8Array, allowed: readonly Network[]): string | undefined {
  if (allowed.some((each) => isWithin(address, each))) return undefined;
  const inner = EMBEDDED_IPV4.find((each) => isWithin(address, each));
  if (inner !== undefined) {
    const refusal = refusalOf(address.subarray(inner.at, inner.at + 4), allowed);
    return refusal === undefined ? undefined : `${refusal} (within ${inner.what})`;
  }
  if (address.length === 4) return SPECIAL_IPV4.find((each) => isWithin(address, each))?.what;
  if (!isWithin(address, GLOBAL_IPV6)) return ipv6Kind(address);
  return SPECIAL_IPV6.find((each) => isWithin(address, each))?.what;
}

const KINDS_OF_IPV6 = [
  network('::/128', 'this host'),
  network('::1/128', 'the loopback interface'),
  network('64:ff9b:1::/48', 'a NAT64 of a private network'),
  network('fc00::/7', 'a private network'),
  network('fe80::/10', 'link-local'),
  network('ff00::/8', 'multicast'),
] as const;

function ipv6Kind(address: Uint8Array): string {
  return KINDS_OF_IPV6.find((each) => isWithin(address, each))?.what ?? 'reserved';
}

function isWithin(address: Uint8Array, { octets, bits }: Network): boolean {
  if (address.length !== octets.length) return false;
  const whole = Math.floor(bits / 8);
  if (!octets.subarray(0, whole).every((octet, index) => octet === address[index])) return false;
  const rest = bits % 8;
  if (rest === 0) return true;
  const mask = 0xff << (8 - rest);
  return ((octets[whole] ?? 0) & mask) === ((address[whole] ?? 0) & mask);
}

/** The canonical text of an address as it stands in a URL. */
export function urlHost(address: Uint8Array): string {
  const text = formatIp(address) ?? '';
  return address.length === 4 ? text : `[${text}]`;
}
