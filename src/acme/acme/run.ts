// SPDX-License-Identifier: Apache-2.0
import type { ConnectGuard } from '#base/egress/connect-guard.ts';
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import type { Clock } from '#base/ports.ts';
import type { Host } from '#component/host.ts';
import { createIssuerSigning } from '#requests/certificate-request/index.ts';
import { createCsrSigning } from '#requests/signer/index.ts';
import { createDnsAccess } from '../solving/dns-access.ts';
import { createSelfCheck, type SelfCheck } from '../solving/index.ts';
import type { AcmeFlags } from './flags.ts';
import { createAcme } from './index.ts';
import { createAcmeRequests } from './requests/index.ts';

/** Runs the component that gets certificates from ACME servers, until it is stopped. */
export async function run({ flags, userAgent, clock, ...host }: Host<AcmeFlags>): Promise<void> {
  const proxy = host.egressProxy();
  const selfCheck = openSelfCheck(flags, { userAgent, proxy, clock });
  await host.run((component) =>
    Promise.resolve(
      createAcme({
        component,
        checkChallenge: selfCheck.check,
        maxChallenges: flags.maxChallenges,
        http01Grants: flags.http01Zone,
        renewsCertificates: flags.renewCertificates,
        namespaced: {
          servers: flags.namespacedServer,
          solvers: flags.namespacedSolver,
          guard: selfCheck.guard,
        },
        userAgent,
        proxy,
        more: ({ signers, orders }) => [
          createAcmeRequests({
            component,
            signers,
            orders,
            namespace: component.leases?.namespace ?? component.secretNamespace,
            signCsrs: createCsrSigning,
            signCertificateRequests: createIssuerSigning,
          }),
        ],
      }),
    ),
  );
  await selfCheck.close();
}

/** Returns the self-check, and a function that closes its connections. */
function openSelfCheck(
  flags: AcmeFlags,
  {
    userAgent,
    proxy,
    clock,
  }: {
    readonly userAgent: string;
    readonly proxy: EgressProxy | undefined;
    readonly clock: Clock;
  },
): {
  readonly check: SelfCheck;
  /** Addresses that calls on behalf of AcmeSigners may reach. */
  readonly guard: ConnectGuard;
  readonly close: () => Promise<void>;
} {
  const { http, resolvers, namespaced } = createDnsAccess(flags, { userAgent, proxy });
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
