// SPDX-License-Identifier: Apache-2.0
import type { AcmeOptions } from '../../app/component-options.ts';
import { runComponent } from '../../app/component.ts';
import { openSelfCheck } from '../../app/acme/dns-access.ts';
import type { SelfCheckOptions } from '../../app/acme/self-check-options.ts';
import { VERSION } from '../../app/version.ts';
import { createAcme } from '../../controllers/acme/index.ts';
import { createAcmeRequests } from '../../controllers/acme/requests/index.ts';
import { createCertificateRequestSigning } from '../../controllers/certificate-request/index.ts';
import { createCsrSigning } from '../../controllers/signer/index.ts';

/** Runs the component that gets certificates from ACME servers, until it is stopped. */
export async function run(options: AcmeOptions & SelfCheckOptions): Promise<void> {
  const selfCheck = openSelfCheck(options);
  await runComponent('acme', options, (component) =>
    Promise.resolve(
      createAcme({
        component,
        checkChallenge: selfCheck.check,
        renewsCertificates: options.renewCertificates,
        namespaced: {
          servers: options.namespacedServer,
          solvers: options.namespacedSolver,
          guard: selfCheck.guard,
        },
        userAgent: `countersign/${VERSION}`,
        more: ({ signers, orders }) => [
          createAcmeRequests({
            ...{ component, signers, orders },
            namespace: component.leases?.namespace ?? component.secretNamespace,
            signCsrs: createCsrSigning,
            signCertificateRequests: createCertificateRequestSigning,
          }),
        ],
      }),
    ),
  );
  await selfCheck.close();
}
