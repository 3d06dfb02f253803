// SPDX-License-Identifier: Apache-2.0
import { permissions as approver } from '../controllers/approver/permissions.ts';
import { permissions as attester } from '../controllers/attester/permissions.ts';
import { permissions as authority } from '../controllers/authority/permissions.ts';
import { permissions as certificateRequest } from '../controllers/certificate-request/permissions.ts';
import { permissions as pcrIssuer } from '../controllers/pcr-issuer/permissions.ts';
import { permissions as signer } from '../controllers/signer/permissions.ts';
import type { PermissionRule } from '../kube/resource/permissions.ts';
import type { PermissionNames } from '../runtime/rbac/permission-names.ts';

/** Every component by its subcommand, with the permissions that its roles hold. */
export const COMPONENT_PERMISSIONS: ReadonlyMap<
  string,
  (names: PermissionNames) => readonly PermissionRule[]
> = new Map([
  ['approver', approver],
  ['signer', signer],
  ['pcr-issuer', pcrIssuer],
  ['certificate-request', certificateRequest],
  ['attester', attester],
  ['authority', authority],
]);
