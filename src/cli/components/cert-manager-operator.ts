// SPDX-License-Identifier: Apache-2.0
import { CERT_MANAGER_OPERATOR_NAMESPACE } from '../../api/operator/cert-manager-deployment.ts';
import { createCertManagerOperator } from '../../controllers/cert-manager-operator/index.ts';
import { runComponent } from '../../app/component.ts';
import type { CertManagerOperatorOptions } from '../../app/component-options.ts';
import { VERSION } from '../../app/version.ts';
import { acceptedRelease, certManagerOf } from '../../manifests/cert-manager/desired.ts';
import { refuseSpec, sumsOf } from '../../manifests/cert-manager/preflight.ts';

/** Runs the component that installs and heals cert-manager, until it is stopped. */
export async function run(options: CertManagerOperatorOptions): Promise<void> {
  await runComponent('cert-manager-operator', options, (component) => {
    const settings = { moreReleases: options.allowRelease, dangerZone: options.allowDangerZone };
    return Promise.resolve(
      createCertManagerOperator({
        ...{ component, version: VERSION },
        namespace: component.leases?.namespace ?? CERT_MANAGER_OPERATOR_NAMESPACE,
        versions: Object.keys(sumsOf(settings)),
        refuse: (spec) => refuseSpec(spec, settings),
        accept: (version, file) => acceptedRelease(version, file, settings),
        desired: certManagerOf,
      }),
    );
  });
}
