// SPDX-License-Identifier: Apache-2.0
/** What the components of ACME open to ask DNS and the servers that a signer names. The flags are read without it. */
import { getServers } from 'node:dns';
import { createExchange, type Exchange } from '../../acme/exchange.ts';
import {
  CHECK_LIMITS,
  createDnsClient,
  createSelfCheck,
  type SelfCheck,
} from '../../acme-solving/index.ts';
import { connectGuard, type ConnectGuard } from '../../egress/connect-guard.ts';
import { clock } from '../process.ts';
import { VERSION } from '../version.ts';
import type { DnsOptions, NamespacedOptions } from './dns-options.ts';
import type { SelfCheckOptions } from './self-check-options.ts';

/** What is called in the name of AcmeSigners, each address judged; `http` is to be closed. */
interface NamespacedAccess {
  readonly guard: ConnectGuard;
  readonly http: Exchange;
  readonly askNamed: ReturnType<typeof createDnsClient>;
}

/** What asks DNS servers, and servers that a signer names; `http` is to be closed. */
export function createDnsAccess({
  resolver,
  namespacedNetwork,
}: DnsOptions & Pick<NamespacedOptions, 'namespacedNetwork'>): {
  readonly ask: ReturnType<typeof createDnsClient>;
  /** What is called in the name of AcmeSigners. */
  readonly namespaced: NamespacedAccess;
  readonly resolvers: readonly string[];
  readonly http: Exchange;
} {
  const http = createExchange({ userAgent: `countersign/${VERSION}`, limits: CHECK_LIMITS });
  const resolvers = resolver.length > 0 ? resolver : getServers();
  const guard = connectGuard(namespacedNetwork);
  const guarded = createExchange({
    ...{ userAgent: `countersign/${VERSION}`, limits: CHECK_LIMITS, guard },
  });
  const namespaced = { guard, http: guarded, askNamed: createDnsClient(guarded, guard) };
  return { ask: createDnsClient(http), resolvers, http, namespaced };
}

/** The self-check, and what ends its connections. */
export function openSelfCheck(options: SelfCheckOptions): {
  readonly check: SelfCheck;
  /** Where calls in the name of AcmeSigners may lead. */
  readonly guard: ConnectGuard;
  readonly close: () => Promise<void>;
} {
  const { http, resolvers, namespaced } = createDnsAccess(options);
  const { selfCheckNetwork: allowed, selfCheckPorts: ports } = options;
  const http01 = ports === undefined ? { allowed } : { allowed, ports };
  const check = createSelfCheck({
    ...{ http, resolvers, now: clock, http01 },
    named: { ask: namespaced.askNamed, grants: options.namespacedSolver },
  });
  return {
    check,
    guard: namespaced.guard,
    close: async () => {
      await Promise.all([http.close(), namespaced.http.close()]);
    },
  };
}
