// SPDX-License-Identifier: Apache-2.0
import {
  CERT_MANAGER_DEPLOYMENTS,
  type CertManagerDeployment,
  type CertManagerSpec,
} from '#api/operator/cert-manager-deployment.ts';
import {
  isRefusal,
  type DesiredInstallation,
  type InstalledKind,
  type Refusal,
} from '../reconcile/desired.ts';
import { createInstaller, type InstallerInit } from '../reconcile/installer.ts';
import { resource } from '#kube/resource/resource.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import type { Controller } from '#component/contract.ts';
import { permissions } from './permissions.ts';
import { createReleaseReader, type AcceptRelease } from './read-release-map.ts';
import * as messages from './messages.ts';

const INSTALLS: InstalledKind = {
  kind: 'CertManagerDeployment',
  resource: resource(CERT_MANAGER_DEPLOYMENTS),
  label: 'cert-manager',
  fieldManager: 'countersign-cert-manager-operator',
  account: 'countersign-cert-manager-operator',
  remedy: messages.REMEDY,
};

/** Dependencies of the cert-manager operator. */
export interface CertManagerOperatorInit extends Pick<
  InstallerInit<CertManagerDeployment>,
  'component' | 'version'
> {
  /** Namespace of the ConfigMaps with releases. */
  readonly namespace: string;
  /** Versions that it may install. */
  readonly versions: readonly string[];
  /** Returns the first fault of a spec that does not depend on the release. */
  readonly refuse: (spec: CertManagerSpec) => Refusal | undefined;
  readonly accept: AcceptRelease;
  readonly desired: (
    spec: CertManagerSpec,
    release: readonly ManagedObject[],
  ) => DesiredInstallation;
}

/**
 * Installs the cert-manager that the CertManagerDeployment `cluster` describes, and restores it
 * after changes.
 */
export function createCertManagerOperator(init: CertManagerOperatorInit): Controller {
  const { component, namespace, versions, version } = init;
  const readRelease = createReleaseReader({ ...init, client: component.client });
  return createInstaller<CertManagerDeployment>({
    component,
    version,
    installs: INSTALLS,
    permissions: () => permissions({ leases: component.leases, namespace, versions }),
    desiredOf: async ({ spec }) => {
      const refusal = init.refuse(spec);
      if (refusal !== undefined) return refusal;
      const release = await readRelease(spec.version);
      return isRefusal(release) ? release : init.desired(spec, release);
    },
  });
}
