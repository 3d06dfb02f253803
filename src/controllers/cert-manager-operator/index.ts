// SPDX-License-Identifier: Apache-2.0
import {
  CERT_MANAGER_DEPLOYMENTS,
  type CertManagerDeployment,
  type CertManagerSpec,
} from '../../api/operator/cert-manager-deployment.ts';
import {
  isRefusal,
  type DesiredInstallation,
  type InstalledKind,
  type Refusal,
} from '../../installing/desired.ts';
import { createInstaller, type InstallerInit } from '../../installing/installer.ts';
import { resource } from '../../kube/resource/resource.ts';
import type { ManagedObject } from '../../reconciling/objects/managed-object.ts';
import type { Controller } from '../../runtime/component/component.ts';
import { permissions } from './permissions.ts';
import { createReleaseReader, type AcceptRelease } from './release-map.ts';

const INSTALLS: InstalledKind = {
  kind: 'CertManagerDeployment',
  resource: resource(CERT_MANAGER_DEPLOYMENTS),
  label: 'cert-manager',
  fieldManager: 'countersign-cert-manager-operator',
  account: 'countersign-cert-manager-operator',
  remedy: 'apply what countersign rbac --cert-manager-operator prints',
};

/** What the operator of cert-manager needs. */
export interface CertManagerOperatorInit extends Pick<
  InstallerInit<CertManagerDeployment>,
  'component' | 'version'
> {
  /** Where the ConfigMaps with releases are. */
  readonly namespace: string;
  /** Versions that it may install. */
  readonly versions: readonly string[];
  /** What is wrong with a spec, whatever the release. */
  readonly refuse: (spec: CertManagerSpec) => Refusal | undefined;
  readonly accept: AcceptRelease;
  readonly desired: (
    spec: CertManagerSpec,
    release: readonly ManagedObject[],
  ) => DesiredInstallation;
}

/** Installs the cert-manager that the CertManagerDeployment `cluster` says, and keeps it that way. */
export function createCertManagerOperator(init: CertManagerOperatorInit): Controller {
  const { component, namespace, versions, version } = init;
  const readRelease = createReleaseReader({ ...init, client: component.client });
  return createInstaller<CertManagerDeployment>({
    ...{ component, version, installs: INSTALLS },
    permissions: () => permissions({ leases: component.leases, namespace, versions }),
    desiredOf: async ({ spec }) => {
      const refusal = init.refuse(spec);
      if (refusal !== undefined) return refusal;
      const release = await readRelease(spec.version);
      return isRefusal(release) ? release : init.desired(spec, release);
    },
  });
}
