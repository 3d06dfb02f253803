// SPDX-License-Identifier: Apache-2.0
import { COUNTERSIGNS, type Countersign } from '../../api/operator/countersign.ts';
import type { InstalledKind } from '../../installing/desired.ts';
import { createInstaller, type InstallerInit } from '../../installing/installer.ts';
import { resource } from '../../kube/resource/resource.ts';
import type { Controller } from '../../runtime/component/component.ts';
import { permissions } from './permissions.ts';

const INSTALLS: InstalledKind = {
  kind: 'Countersign',
  resource: resource(COUNTERSIGNS),
  label: 'countersign',
  fieldManager: 'countersign-operator',
  account: 'countersign-operator',
  remedy: 'apply what countersign rbac --operator prints for this Countersign',
};

/** Installs what the Countersign `cluster` says, and keeps it that way. */
export function createOperator(
  init: Pick<InstallerInit<Countersign>, 'component' | 'desiredOf' | 'version'>,
): Controller {
  return createInstaller({
    ...init,
    installs: INSTALLS,
    permissions: () => permissions(init.component),
  });
}
