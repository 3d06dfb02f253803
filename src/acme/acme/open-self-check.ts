// SPDX-License-Identifier: Apache-2.0
import type { ConnectGuard } from '#base/egress/connect-guard.ts';
import type { Clock } from '#base/ports.ts';
import { createDnsAccess } from '../solving/dns-access.ts';
import { createSelfCheck, type SelfCheck } from '../solving/index.ts';
import type { SelfCheckFlags } from './flags.ts';

/** Returns the self-check, and a function that closes its connections. */
export function openSelfCheck(
  flags: SelfCheckFlags,
  { userAgent, clock }: { readonly userAgent: string; readonly clock: Clock },
): {
  readonly check: SelfCheck;
  /** Addresses that calls on behalf of AcmeSigners may reach. */
  readonly guard: ConnectGuard;
  readonly close: () => Promise<void>;
} {
  const { http, resolvers, namespaced } = createDnsAccess(flags, userAgent);
  const { selfCheckNetwork: allowed, selfCheckPorts: ports } = flags;
  const check = createSelfCheck({
    http,
    resolvers,
    now: clock,
    allowed,
    ...(ports === undefined ? {} : { http01Ports: ports }),
    named: { ask: namespaced.askNamed, grants: flags.namespacedSolver },
  });
  return {
    check,
    guard: namespaced.guard,
    close: async () => {
      await Promise.all([http.close(), namespaced.http.close()]);
    },
  };
}
