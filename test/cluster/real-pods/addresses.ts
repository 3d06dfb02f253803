// SPDX-License-Identifier: Apache-2.0
/**
 * The addresses of a cluster whose pods run, in each IP family. Those of nodes and pods are the
 * same in test/cluster/podhost/addresses.go, and the first of Services in
 * test/cluster/controlplane/pki.go.
 */

export type IpFamily = 'IPv4' | 'IPv6';

/** In a network namespace only. */
interface Addresses {
  readonly host: string;
  readonly node: (index: number) => string;
  /** The range of Services. */
  readonly services: string;
  /** All addresses of a machine, of this family or of both. */
  readonly every: string;
}

const ADDRESSES: Readonly<Record<IpFamily, Addresses>> = {
  IPv4: {
    host: '10.244.0.1',
    node: (index) => `10.244.0.${11 + index}`,
    services: '10.0.0.0/24',
    every: '0.0.0.0',
  },
  // Unique local addresses (RFC 4193). The API server takes no range above /108.
  IPv6: {
    host: 'fd00:10:244::1',
    node: (index) => `fd00:10:244::${(11 + index).toString(16)}`,
    services: 'fd00:10::/112',
    every: '::',
  },
};

/** What pods and Services of a cluster have by default. */
export const DEFAULT_FAMILIES: readonly IpFamily[] = ['IPv4'];

/** Of the nodes' and pods' network. */
export const HOST_ADDRESS = ADDRESSES.IPv4.host;

/** Addresses in the families of a cluster, the first family first. */
export interface AddressPlan {
  readonly families: readonly IpFamily[];
  /** Of the host in the first family. */
  readonly host: string;
  readonly every: string;
  readonly services: string;
  readonly node: (index: number) => readonly string[];
}

export function addressPlan(families: readonly IpFamily[]): AddressPlan {
  const each = families.map((family) => ADDRESSES[family]);
  const { host, every } = ADDRESSES[families[0] ?? 'IPv4'];
  return {
    families,
    host,
    every,
    services: each.map(({ services }) => services).join(','),
    node: (index) => each.map(({ node }) => node(index)),
  };
}
