// SPDX-License-Identifier: Apache-2.0
import { COUNTERSIGNS, type Countersign } from '#api/operator/countersign.ts';
import type { InstalledKind } from '../reconcile/desired.ts';
import { createInstaller, type InstallerInit } from '../reconcile/installer.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Controller } from '#component/contract.ts';
import { permissions } from './permissions.ts';
import * as messages from './messages.ts';

const INSTALLS: InstalledKind = {
  kind: 'Countersign',
  resource: resource(COUNTERSIGNS),
  label: 'countersign',
  fieldManager: 'countersign-operator',
  account: 'countersign-operator',
  remedy: messages.REMEDY,
};

/** Installs the Countersign that the object `cluster` describes, and restores it after changes. */
export function createOperator(
  init: Pick<InstallerInit<Countersign>, 'component' | 'desiredOf' | 'version'>,
): Controller {
  return createInstaller({
    ...init,
    installs: INSTALLS,
    permissions: () => permissions(init.component),
  });
}
