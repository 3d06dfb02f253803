// SPDX-License-Identifier: Apache-2.0
/** What an administrator applies, so that the operator can install cert-manager. */
import { DEFAULT_SECRET_NAMESPACE } from '../../api/signer/own-tls.ts';
import { permissions } from '../../controllers/cert-manager-operator/permissions.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { whoWritesCertManagerDeployments } from '../admission/cert-manager-deployments.ts';
import { operatorDeployment } from '../operator/deployment.ts';
import { merged, onObject } from '../operator/managed-rules.ts';
import { roleManifests, type Manifest } from '../roles.ts';
import { namespacesOf } from '../workloads/namespaces.ts';
import { sumsOf, type CertManagerSettings } from './preflight.ts';
import { RELEASES } from './releases.ts';

const COMPONENT = 'cert-manager-operator';
/** As the release has it. */
const NAMESPACE = 'cert-manager';

/** What the operator itself is started as. */
export interface CertManagerOperatorRelease extends CertManagerSettings {
  /** Where it runs, with nobody else. */
  readonly namespace: string;
  /** A repository. */
  readonly image: string;
  /** Of the operator: the tag of its image. */
  readonly version: string;
}

/**
 * The permissions of the operator: its own work, the objects of every known release by name, and what their roles grant.
 * An upgrade from one to another needs no others.
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
 * The namespaces, the operator's ServiceAccount with these permissions, who may write its object, and its Deployment. The CustomResourceDefinition is
 * deploy/crds/operator/certmanagerdeployments.yaml.
 */
export function certManagerOperatorManifests(
  release: CertManagerOperatorRelease,
): readonly Manifest[] {
  const { namespace, image, version, moreReleases, dangerZone } = release;
  const deployment = operatorDeployment({
    ...{ component: COMPONENT, namespace, image: `${image}:${version}` },
    description: 'Installs and heals cert-manager; whoever changes it reads every Secret.',
    args: [
      ...Object.entries(moreReleases).map(([each, sum]) => `--allow-release=${each}=${sum}`),
      ...(dangerZone ? ['--allow-danger-zone'] : []),
    ],
  });
  return [
    ...namespacesOf([namespace]),
    // As the release has it: without labels of ours, which it would lose.
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    ...roleManifests(COMPONENT, namespace, certManagerOperatorRules(release)),
    ...whoWritesCertManagerDeployments(namespace),
    deployment,
  ];
}
