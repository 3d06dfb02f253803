// SPDX-License-Identifier: Apache-2.0
import { getDomain } from 'tldts';
import { formatIp, parseIp } from '../ip.ts';

/**
 * What a CA counts a name under: the registered domain, by the Public Suffix List with its private part, as Let's
 * Encrypt does; an address of IPv4 itself, of IPv6 its /64.
 *
 * @param name - a DNS name with or without `*.`, or an address
 * @returns the name itself where it is a public suffix or has no known one
 */
export function registeredDomain(name: string): string {
  const octets = parseIp(name);
  if (octets !== undefined) return networkOf(octets) ?? name;
  const base = name.replace(/^\*\./, '').toLowerCase();
  const options = { allowPrivateDomains: true, validateHostname: false, extractHostname: false };
  return getDomain(base, options) ?? base;
}

/** Half of an IPv6 address: what one customer has. */
const NETWORK_OCTETS = 8;

function networkOf(octets: Uint8Array): string | undefined {
  if (octets.length === 4) return formatIp(octets);
  return formatIp(octets.map((octet, index) => (index < NETWORK_OCTETS ? octet : 0)));
}
