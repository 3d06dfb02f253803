// SPDX-License-Identifier: Apache-2.0
import { parseIp } from '#base/ip.ts';

/**
 * Addresses that no pod has: `this` network, loopback, link-local, multicast and reserved. RFC 1122
 * §3.2.1.3, RFC 3927, RFC 5771, RFC 1112 §4.
 */
const NO_IPV4: readonly ((octets: Uint8Array) => boolean)[] = [
  ([first = 0]) => first === 0 || first === 127 || first >= 224,
  ([first, second]) => first === 169 && second === 254,
];

/**
 * Unspecified, loopback and embedded IPv4, then link-local, then multicast. RFC 4291 §2.4, §2.5.5.
 */
const NO_IPV6: readonly ((octets: Uint8Array) => boolean)[] = [
  (octets) => octets.subarray(0, 10).every((octet) => octet === 0),
  ([first, second = 0]) => first === 0xfe && (second & 0xc0) === 0x80,
  ([first]) => first === 0xff,
];

/**
 * Reports whether a pod can have an address. A node reports the addresses of its pods, and the API
 * server checks only their form. A compromised node could name an address that clients of every
 * node dial: loopback, the metadata service of a cloud (169.254.169.254), a multicast group. Within
 * the networks of pods a wrong address cannot be detected.
 */
export function isPodAddress(text: string): boolean {
  const octets = parseIp(text);
  if (octets === undefined) return false;
  return !(octets.length === 4 ? NO_IPV4 : NO_IPV6).some((isIn) => isIn(octets));
}
