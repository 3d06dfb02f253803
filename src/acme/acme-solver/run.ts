// SPDX-License-Identifier: Apache-2.0
import type { Host } from '#component/host.ts';
import { createDnsAccess } from '../solving/dns-access.ts';
import type { AcmeSolverFlags } from './flags.ts';
import { createAcmeSolver } from './index.ts';

/** Namespace of `acme-responder`'s Service, for a process without Leases outside of a pod. */
const DEFAULT_NAMESPACE = 'countersign-system';

/** Runs the component that presents Challenges and cleans up, until it is stopped. */
export async function run({ flags, userAgent, ...host }: Host<AcmeSolverFlags>): Promise<void> {
  const dns = createDnsAccess(flags, {
    userAgent,
    proxy: host.egressProxy(),
  });
  await host.run((component) =>
    Promise.resolve(
      createAcmeSolver({
        component,
        surroundings: { ...component, ...dns },
        http01Grants: flags.http01Zone,
        solverGrants: flags.namespacedSolver,
        clusterCredentials: flags.credentialNamespace,
        ownNamespace: component.leases?.namespace ?? DEFAULT_NAMESPACE,
      }),
    ),
  );
  await Promise.all([dns.http.close(), dns.namespaced.http.close()]);
}
