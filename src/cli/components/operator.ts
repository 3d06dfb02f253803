// SPDX-License-Identifier: Apache-2.0
import { createOperator } from '../../controllers/operator/index.ts';
import { runComponent } from '../../app/component.ts';
import type { OperatorComponentOptions } from '../../app/component-options.ts';
import { VERSION } from '../../app/version.ts';
import { desiredInstallation } from '../../manifests/operator/desired.ts';
import { DEFAULT_NAMESPACE } from '../../manifests/values/defaults.ts';

/** Runs the component that installs and heals all others, until it is stopped. */
export async function run(options: OperatorComponentOptions): Promise<void> {
  await runComponent('operator', options, (component) => {
    const settings = {
      namespace: component.leases?.namespace ?? DEFAULT_NAMESPACE,
      keysNamespace: options.secretNamespace,
      image: options.image,
      allowedImages: options.allowImage,
      dangerZone: options.allowDangerZone,
    };
    return Promise.resolve(
      createOperator({
        component,
        desiredOf: ({ spec }) => desiredInstallation(spec, settings),
        version: VERSION,
      }),
    );
  });
}
