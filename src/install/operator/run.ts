// SPDX-License-Identifier: Apache-2.0
import type { Host } from '#component/host.ts';
import { DEFAULT_NAMESPACE } from '../values/defaults.ts';
import { desiredInstallation } from './desired.ts';
import type { OperatorFlags } from './flags.ts';
import { createOperator } from './index.ts';

/** Runs the component that installs and heals all others, until it is stopped. */
export async function run({ flags, version, ...host }: Host<OperatorFlags>): Promise<void> {
  await host.run((component) => {
    const settings = {
      namespace: component.leases?.namespace ?? DEFAULT_NAMESPACE,
      keysNamespace: component.secretNamespace,
      image: flags.image,
      allowedImages: flags.allowImage,
      dangerZone: flags.allowDangerZone,
    };
    return Promise.resolve(
      createOperator({
        component,
        desiredOf: ({ spec }) => desiredInstallation(spec, settings),
        version,
      }),
    );
  });
}
