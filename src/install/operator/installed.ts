// SPDX-License-Identifier: Apache-2.0
/** The manifests that an administrator applies, so that the operator can install the rest. */
import { DEFAULT_SECRET_NAMESPACE } from '#api/signer/own-tls.ts';
import { usageError } from '#base/errors.ts';
import { isRefusal } from '../reconcile/desired.ts';
import type { CountersignSpec } from '#api/operator/countersign.ts';
import { roleManifests, type Manifest } from '../roles.ts';
import { namespacesOf } from '../workloads/namespaces.ts';
import { desiredInstallation } from './desired.ts';
import { operatorDeployment } from './deployment.ts';
import { countersignsPolicy } from '../admission/countersigns.ts';
import type { OperatorSettings } from './preflight.ts';
import * as messages from './messages.ts';

const COMPONENT = 'operator';

/** Settings of the operator's own Deployment. */
export interface OperatorRelease extends OperatorSettings {
  /** Version of the operator: the tag of its image. */
  readonly version: string;
}

/**
 * Returns the namespaces, the operator's ServiceAccount with only the permissions for this spec,
 * the policy for writers of a Countersign, and the Deployment. The CustomResourceDefinition is
 * deploy/crds/operator.
 *
 * @throws SignerError USAGE (`fail`) for a spec that the operator would reject
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
    ...countersignsPolicy(),
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
    component: COMPONENT,
    namespace,
    image: `${image}:${version}`,
    description: messages.DESCRIPTION,
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
