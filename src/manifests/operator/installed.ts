// SPDX-License-Identifier: Apache-2.0
/** What an administrator applies, so that the operator can install the rest. */
import { DEFAULT_SECRET_NAMESPACE } from '../../api/signer/own-tls.ts';
import { usageError } from '../../errors.ts';
import { isRefusal } from '../../installing/desired.ts';
import type { CountersignSpec } from '../../api/operator/countersign.ts';
import { roleManifests, type Manifest } from '../roles.ts';
import { namespacesOf } from '../workloads/namespaces.ts';
import { desiredInstallation } from './desired.ts';
import { operatorDeployment } from './deployment.ts';
import { whoWritesCountersigns } from '../admission/countersigns.ts';
import type { OperatorSettings } from './preflight.ts';

const COMPONENT = 'operator';

/** What the operator itself is started as. */
export interface OperatorRelease extends OperatorSettings {
  /** Of the operator: the tag of its image. */
  readonly version: string;
}

/**
 * The namespaces, the operator's ServiceAccount with the permissions that this spec takes and no others, the policy for
 * who writes a Countersign, and the Deployment. The CustomResourceDefinition is deploy/crds/operator.
 *
 * @throws SignerError USAGE (`fail`) for a spec that the operator would refuse
 */
export function operatorManifests(
  spec: CountersignSpec,
  release: OperatorRelease,
): readonly Manifest[] {
  const desired = desiredInstallation(spec, release);
  if (isRefusal(desired)) {
    const { reason, message } = desired;
    throw usageError(`${reason}: ${message}`);
  }
  const { namespace, keysNamespace } = release;
  return [
    ...namespacesOf([namespace, keysNamespace]),
    ...roleManifests(COMPONENT, namespace, desired.rules),
    ...whoWritesCountersigns(),
    deployment(release),
  ];
}

function deployment({
  namespace,
  image,
  version,
  keysNamespace,
  ...more
}: OperatorRelease): Manifest {
  return operatorDeployment({
    ...{ component: COMPONENT, namespace, image: `${image}:${version}` },
    description: 'Installs and heals Countersign; whoever changes it reads CA keys.',
    args: [
      `--image=${image}`,
      ...(keysNamespace === DEFAULT_SECRET_NAMESPACE
        ? []
        : [`--secret-namespace=${keysNamespace}`]),
      ...more.allowedImages.map((each) => `--allow-image=${each}`),
      ...(more.dangerZone ? ['--allow-danger-zone'] : []),
    ],
  });
}
