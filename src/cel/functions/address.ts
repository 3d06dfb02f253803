// SPDX-License-Identifier: Apache-2.0
import { formatIp, isIpv4Mapped, parseIp } from '#base/ip.ts';

/**
 * An IP address like Go's `netip.Addr`: IPv4 and IPv6 never compare equal. It supports no zones.
 */
export class Address {
  readonly family: 4 | 6;
  /** Bits of the address, big endian. */
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
 * Parses an address like Kubernetes' `ip()`: no leading zeros, no zone, and no IPv4-mapped IPv6
 * (which would give one address two forms).
 *
 * @returns undefined if `text` is not such an address
 */
export function parseAddress(text: string): Address | undefined {
  const octets = parseIp(text);
  if (octets === undefined || isIpv4Mapped(octets)) return undefined;
  const bits = octets.reduce((value, octet) => (value << 8n) | BigInt(octet), 0n);
  return new Address(octets.length === 4 ? 4 : 6, bits);
}

/** Returns the canonical text (RFC 5952). */
export function formatAddress({ bits, width }: Address): string {
  const octets = Buffer.from(bits.toString(16).padStart(width / 4, '0'), 'hex');
  return formatIp(octets) ?? '';
}
