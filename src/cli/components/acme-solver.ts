// SPDX-License-Identifier: Apache-2.0
import type { Http01Options } from '../../app/acme/challenge-port.ts';
import type { ComponentOptions } from '../../app/component-options.ts';
import { createDnsAccess } from '../../app/acme/dns-access.ts';
import type { CredentialOptions, DnsOptions } from '../../app/acme/dns-options.ts';
import { runComponent } from '../../app/component.ts';
import { createAcmeSolver } from '../../controllers/acme-solver/index.ts';

/** Where `acme-responder`'s Service is, for a process outside of a pod that has no Leases. */
const DEFAULT_NAMESPACE = 'countersign-system';

/** Runs the component that presents Challenges and cleans up, until it is stopped. */
export async function run(
  options: ComponentOptions & Http01Options & DnsOptions & CredentialOptions,
): Promise<void> {
  const dns = createDnsAccess(options);
  await runComponent('acme-solver', options, (component) =>
    Promise.resolve(
      createAcmeSolver({
        component,
        surroundings: { ...component, ...dns },
        http01Grants: options.http01Zone,
        solverGrants: options.namespacedSolver,
        clusterCredentials: options.credentialNamespace,
        ownNamespace: component.leases?.namespace ?? DEFAULT_NAMESPACE,
      }),
    ),
  );
  await Promise.all([dns.http.close(), dns.namespaced.http.close()]);
}
