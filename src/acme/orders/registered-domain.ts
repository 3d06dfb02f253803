// SPDX-License-Identifier: Apache-2.0
import { getDomain } from 'tldts';
import { formatIp, parseIp } from '#base/ip.ts';

/**
 * Returns the key that a CA counts certificates by. For a name it is the registered domain, by the
 * Public Suffix List with its private part, as Let's Encrypt does. For IPv4 it is the address
 * itself, for IPv6 its /64.
 *
 * @param name - a DNS name with or without `*.`, or an address
 * @returns the name itself if it is a public suffix or has no known one
 */
export function registeredDomain(name: string): string {
  const octets = parseIp(name);
  if (octets !== undefined) return networkOf(octets) ?? name;
  const base = name.replace(/^\*\./, '').toLowerCase();
  const options = { allowPrivateDomains: true, validateHostname: false, extractHostname: false };
  return getDomain(base, options) ?? base;
}

/** Half of an IPv6 address: the network of one customer. */
const NETWORK_OCTETS = 8;

function networkOf(octets: Uint8Array): string | undefined {
  if (octets.length === 4) return formatIp(octets);
  return formatIp(octets.map((octet, index) => (index < NETWORK_OCTETS ? octet : 0)));
}
