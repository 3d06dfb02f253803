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
import { clock } from '../process.ts';
import { VERSION } from '../version.ts';
import type { DnsOptions } from './dns-options.ts';
import type { SelfCheckOptions } from './self-check-options.ts';

/** What asks DNS servers, and servers that a signer names; `http` is to be closed. */
export function createDnsAccess({ resolver }: DnsOptions): {
  readonly ask: ReturnType<typeof createDnsClient>;
  readonly resolvers: readonly string[];
  readonly http: Exchange;
} {
  const http = createExchange({ userAgent: `countersign/${VERSION}`, limits: CHECK_LIMITS });
  const resolvers = resolver.length > 0 ? resolver : getServers();
  return { ask: createDnsClient(http), resolvers, http };
}

/** The self-check, and what ends its connections. */
export function openSelfCheck(options: SelfCheckOptions): {
  readonly check: SelfCheck;
  readonly close: () => Promise<void>;
} {
  const { http, resolvers } = createDnsAccess(options);
  const { selfCheckNetwork: allowed, selfCheckPorts: ports } = options;
  const http01 = ports === undefined ? { allowed } : { allowed, ports };
  const check = createSelfCheck({ http, resolvers, now: clock, http01 });
  return { check, close: () => http.close() };
}
