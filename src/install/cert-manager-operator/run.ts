// SPDX-License-Identifier: Apache-2.0
import { CERT_MANAGER_NAMESPACE } from '#api/operator/cert-manager-deployment.ts';
import type { Host } from '#component/host.ts';
import { acceptedRelease, certManagerOf } from './desired.ts';
import type { CertManagerOperatorFlags } from './flags.ts';
import { createCertManagerOperator } from './index.ts';
import { refuseSpec, sumsOf } from './preflight.ts';

/** Runs the component that installs and heals cert-manager, until it is stopped. */
export async function run(host: Host<CertManagerOperatorFlags>): Promise<void> {
  const { flags, version: ownVersion } = host;
  await host.run((component) => {
    const settings = { moreReleases: flags.allowRelease, dangerZone: flags.allowDangerZone };
    return Promise.resolve(
      createCertManagerOperator({
        component,
        version: ownVersion,
        namespace: component.leases?.namespace ?? CERT_MANAGER_NAMESPACE,
        versions: Object.keys(sumsOf(settings)),
        refuse: (spec) => refuseSpec(spec, settings),
        accept: (version, file) => acceptedRelease(version, file, settings),
        desired: certManagerOf,
      }),
    );
  });
}
