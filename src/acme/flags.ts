// SPDX-License-Identifier: Apache-2.0
/** Flags that several ACME components share. */
import { parseNetwork, type Network } from '#base/egress/networks.ts';
import type { Flag } from '#component/flag.ts';
import {
  parseHttp01Grant,
  parseSolverGrant,
  type Http01Grant,
  type SolverGrant,
} from './solving/http/grants.ts';

/** Flags of every component that presents HTTP-01. */
export interface Http01Flags {
  readonly http01Zone: readonly Http01Grant[];
}

/** See {@link Http01Flags}. */
export const HTTP01_FLAGS: readonly Flag[] = [
  {
    flag: '--http01-zone <namespace=zone>',
    help: 'let the AcmeSigners of a namespace prove the names of a zone by HTTP-01 (repeatable; default: none)',
    parse: parseHttp01Grant,
    repeatable: true,
  },
];

/** Flags of every component that queries DNS. */
export interface DnsFlags {
  readonly resolver: readonly string[];
}

/** See {@link DnsFlags}. */
export const DNS_FLAGS: readonly Flag[] = [
  {
    flag: '--resolver <host:port>',
    help: 'DNS resolver, or the https:// URL of one (repeatable; default: those of the system)',
    repeatable: true,
  },
];

/** Flags of components that call servers for AcmeSigners. */
export interface NamespacedFlags {
  readonly namespacedSolver: readonly SolverGrant[];
  readonly namespacedNetwork: readonly Network[];
}

/** See {@link NamespacedFlags}. */
export const NAMESPACED_FLAGS: readonly Flag[] = [
  {
    flag: '--namespaced-solver <member=address>',
    help: 'what solvers of AcmeSigners may call: rfc2136=host:port, acmeDNS=url, webhook=group or nameserver=host:port (repeatable; default: none)',
    parse: parseSolverGrant,
    repeatable: true,
  },
  {
    flag: '--namespaced-network <network>',
    help: 'network outside the Internet that servers of AcmeSigners may be in, such as 10.0.0.0/8 (repeatable)',
    parse: parseNetwork,
    repeatable: true,
  },
];
