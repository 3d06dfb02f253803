// SPDX-License-Identifier: Apache-2.0
/** The manifests that an administrator applies, so that the operator can install cert-manager. */
import { DEFAULT_SECRET_NAMESPACE } from '#api/signer/own-tls.ts';
import { permissions } from './permissions.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { certManagerDeploymentsPolicy } from '../admission/cert-manager-deployments.ts';
import { operatorDeployment } from '../operator/deployment.ts';
import { merged, onObject } from '../operator/managed-rules.ts';
import { roleManifests, type Manifest } from '../roles.ts';
import { namespacesOf } from '../workloads/namespaces.ts';
import { sumsOf, type CertManagerSettings } from './preflight.ts';
import { RELEASES } from './releases.ts';
import * as messages from './messages.ts';

const COMPONENT = 'cert-manager-operator';
/** Namespace of the release. */
const NAMESPACE = 'cert-manager';

/** Settings of the operator's own Deployment. */
export interface CertManagerOperatorRelease extends CertManagerSettings {
  /** Namespace of the operator, which must run alone there. */
  readonly namespace: string;
  /** Repository of the image. */
  readonly image: string;
  /** Version of the operator: the tag of its image. */
  readonly version: string;
}

/**
 * Returns the permissions of the operator: its own work, the objects of every known release by
 * name, and the permissions in their roles. An upgrade between known releases needs no more.
 */
function certManagerOperatorRules({
  namespace,
  ...settings
}: CertManagerSettings & Pick<CertManagerOperatorRelease, 'namespace'>): readonly PermissionRule[] {
  const versions = Object.keys(sumsOf(settings));
  const own = permissions({
    leases: { namespace, secretNamespaces: [DEFAULT_SECRET_NAMESPACE] },
    namespace,
    versions,
  });
  return merged([...own, ...RELEASES.objects.flatMap(onObject), ...RELEASES.granted]);
}

/**
 * Returns the namespaces, the operator's ServiceAccount with these permissions, the policy for
 * writers of its object, and its Deployment. The CustomResourceDefinition is
 * deploy/crds/operator/certmanagerdeployments.yaml.
 */
export function certManagerOperatorManifests(
  release: CertManagerOperatorRelease,
): readonly Manifest[] {
  const { namespace, image, version, moreReleases, dangerZone } = release;
  const deployment = operatorDeployment({
    component: COMPONENT,
    namespace,
    image: `${image}:${version}`,
    description: messages.DESCRIPTION,
    args: [
      ...Object.entries(moreReleases).map(([each, sum]) => `--allow-release=${each}=${sum}`),
      ...(dangerZone ? ['--allow-danger-zone'] : []),
    ],
  });
  return [
    ...namespacesOf([namespace]),
    // Equal to the release's namespace: it would lose labels of Countersign.
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    ...roleManifests(COMPONENT, namespace, certManagerOperatorRules(release)),
    ...certManagerDeploymentsPolicy(namespace),
    deployment,
  ];
}
