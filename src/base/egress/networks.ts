// SPDX-License-Identifier: Apache-2.0
import { usageError } from '../errors.ts';
import { formatIp, parseIp } from '../ip.ts';

/** Addresses with the same first bits. */
export interface Network {
  readonly octets: Uint8Array;
  /** Number of the equal first bits. */
  readonly bits: number;
}

/**
 * Reads a network in the form of RFC 4632 §3.1 and RFC 4291 §2.3, `10.0.0.0/8`. A single address is
 * a network, too.
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
      `${JSON.stringify(text.slice(0, 80))} is not a network; write 10.0.0.0/8, fd00::/8 or one address`,
    );
  }
  return { octets, bits };
}

function network(text: string, what: string): Network & { readonly what: string } {
  return { ...parseNetwork(text), what };
}

/**
 * IPv4 networks outside the Internet: "globally reachable" is false in the registry of
 * special-purpose addresses (RFC 6890 and its updates). It includes networks that cloud providers
 * reserve.
 */
const SPECIAL_IPV4 = [
  network('0.0.0.0/8', 'this host'),
  network('10.0.0.0/8', 'a private network'),
  // Metadata of Alibaba Cloud is at 100.100.100.200:
  // https://www.alibabacloud.com/help/doc-detail/141788.htm
  network('100.64.0.0/10', 'a carrier’s shared network'),
  network('127.0.0.0/8', 'the loopback interface'),
  // Metadata of cloud providers is at 169.254.169.254, as that of AWS, Azure, Google and Oracle:
  // https://docs.oracle.com/iaas/Content/Compute/Tasks/gettingmetadata.htm
  network('169.254.0.0/16', 'link-local'),
  // Public in the registry, but within the provider's cloud routed to its own services. Azure:
  // https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
  network('168.63.129.16', 'a cloud’s own service'),
  // Google Cloud: restricted.googleapis.com, private.googleapis.com, and what its clients call
  // directly: https://docs.cloud.google.com/vpc/docs/access-apis-external-ip
  network('199.36.153.4/30', 'a cloud’s own service'),
  network('199.36.153.8/30', 'a cloud’s own service'),
  network('34.126.0.0/18', 'a cloud’s own service'),
  // Services of a cluster of Google, unless it has a range of its own:
  // https://cloud.google.com/kubernetes-engine/docs/concepts/alias-ips
  network('34.118.224.0/20', 'a cloud’s network of Services'),
  // IBM Cloud: its service network and its service endpoints.
  // https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc
  network('161.26.0.0/16', 'a cloud’s own service'),
  network('166.8.0.0/14', 'a cloud’s own service'),
  network('172.16.0.0/12', 'a private network'),
  // Contains 192.0.0.192, the metadata address of an older cloud of Oracle.
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

/**
 * IPv6 outside of 2000::/3 is not part of the Internet. The list below has the exceptions within
 * it.
 */
const GLOBAL_IPV6 = parseNetwork('2000::/3');
const SPECIAL_IPV6 = [
  // Teredo, ORCHID, and others. Its globally reachable addresses serve no HTTP.
  network('2001::/23', 'reserved for protocols'),
  network('2001:db8::/32', 'for documentation'),
  network('3fff::/20', 'for documentation'),
  // Google Cloud: restricted.googleapis.com, private.googleapis.com, and what its clients call
  // directly: https://docs.cloud.google.com/vpc/docs/access-apis-external-ip
  network('2600:2d00:2:1000::/56', 'a cloud’s own service'),
  network('2600:2d00:2:2000::/56', 'a cloud’s own service'),
  network('2001:4860:8040::/42', 'a cloud’s own service'),
  // Services of a dual-stack cluster of Google. No page of Google names this network. Services have
  // such addresses in the tests of github.com/Dynatrace/dynatrace-operator.
  network('2600:2d00:0:4::/64', 'a cloud’s network of Services'),
] as const;

/** Networks of IPv6 addresses with an IPv4 address that a packet can reach. */
const EMBEDDED_IPV4 = [
  { ...network('::ffff:0.0.0.0/96', 'IPv4-mapped'), at: 12 },
  { ...network('64:ff9b::/96', 'NAT64'), at: 12 },
  { ...network('2002::/16', '6to4'), at: 2 },
] as const;

/**
 * Returns the reason against calls to an address: it is outside the Internet, and none of `allowed`
 * includes it. An IPv4 address within an IPv6 address counts, too.
 *
 * @param address - 4 or 16 octets
 * @param allowed - networks that may be called despite this
 * @returns undefined if it may be called
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
  // Metadata of AWS is at fd00:ec2::254, that of Google Cloud at fd20:ce::254:
  // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
  network('fc00::/7', 'a private network'),
  network('fe80::/10', 'link-local'),
  network('ff00::/8', 'multicast'),
] as const;

function ipv6Kind(address: Uint8Array): string {
  return KINDS_OF_IPV6.find((each) => isWithin(address, each))?.what ?? 'reserved';
}

/** Reports whether a network has an address, of 4 or 16 octets. */
export function isWithin(address: Uint8Array, { octets, bits }: Network): boolean {
  if (address.length !== octets.length) return false;
  const whole = Math.floor(bits / 8);
  if (!octets.subarray(0, whole).every((octet, index) => octet === address[index])) return false;
  const rest = bits % 8;
  if (rest === 0) return true;
  const mask = 0xff << (8 - rest);
  return ((octets[whole] ?? 0) & mask) === ((address[whole] ?? 0) & mask);
}

/** Returns the canonical text of an address in a URL. */
export function urlHost(address: Uint8Array): string {
  const text = formatIp(address) ?? '';
  return address.length === 4 ? text : `[${text}]`;
}
