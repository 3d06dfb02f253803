// SPDX-License-Identifier: Apache-2.0
import type { Host } from '#component/host.ts';
import { createIssuerSigning } from '#requests/certificate-request/index.ts';
import { createCsrSigning } from '#requests/signer/index.ts';
import type { AcmeFlags } from './flags.ts';
import { createAcme } from './index.ts';
import { openSelfCheck } from './open-self-check.ts';
import { createAcmeRequests } from './requests/index.ts';

/** Runs the component that gets certificates from ACME servers, until it is stopped. */
export async function run({ flags, version, clock, ...host }: Host<AcmeFlags>): Promise<void> {
  const userAgent = `countersign/${version}`;
  const proxy = host.egressProxy();
  const selfCheck = openSelfCheck(flags, { userAgent, clock });
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
