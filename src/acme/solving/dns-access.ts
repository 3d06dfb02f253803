// SPDX-License-Identifier: Apache-2.0
import { getServers } from 'node:dns';
import { createExchange, type Exchange } from '#base/egress/exchange.ts';
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import { connectGuard, type ConnectGuard } from '#base/egress/connect-guard.ts';
import type { DnsFlags, NamespacedFlags } from '../flags.ts';
import { createDnsClient } from './dns/client.ts';
import { CHECK_LIMITS } from './self-check.ts';
import * as messages from './messages.ts';

/**
 * Clients for calls on behalf of AcmeSigners, which check each address. The caller closes `http`.
 */
interface NamespacedAccess {
  readonly guard: ConnectGuard;
  readonly http: Exchange;
  readonly askNamed: ReturnType<typeof createDnsClient>;
}

/**
 * Returns the clients for DNS servers, and for servers that a signer names. The caller closes
 * `http`.
 */
export function createDnsAccess(
  { resolver, namespacedNetwork }: DnsFlags & Pick<NamespacedFlags, 'namespacedNetwork'>,
  { userAgent, proxy }: { readonly userAgent: string; readonly proxy: EgressProxy | undefined },
): {
  readonly ask: ReturnType<typeof createDnsClient>;
  /** Clients for calls on behalf of AcmeSigners. */
  readonly namespaced: NamespacedAccess;
  readonly resolvers: readonly string[];
  readonly http: Exchange;
} {
  const http = createExchange({ userAgent, limits: CHECK_LIMITS, proxy });
  const resolvers = resolver.length > 0 ? resolver : getServers();
  const guard = connectGuard(namespacedNetwork, messages.OF_ACME_SIGNERS);
  const guarded = createExchange({ userAgent, limits: CHECK_LIMITS, guard, proxy });
  const namespaced = { guard, http: guarded, askNamed: createDnsClient(guarded, guard) };
  return { ask: createDnsClient(http), resolvers, http, namespaced };
}
