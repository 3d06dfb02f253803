// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '../../../api/acme/index.ts';
import type { Component } from '../../../runtime/component/component.ts';
import type { PermissionNames } from '../../../runtime/rbac/permission-names.ts';
import { secretsOfAccounts } from './account-secrets.ts';

/**
 * What the permissions of the component depend on. AcmeSigners are left out: one that names a Secret which was not granted
 * must not make the component unready.
 */
export function acmeNamesOf(
  served: readonly AcmeSigner[],
  { leases, namespacedSigners, secretNamespace }: Component,
  { renewsCertificates }: Pick<PermissionNames, 'renewsCertificates'>,
): PermissionNames {
  const ofCluster = served.filter(({ metadata }) => metadata.namespace === undefined);
  const secrets = secretsOfAccounts(ofCluster, secretNamespace);
  const signerNames = ofCluster.map(({ spec }) => spec.signerName);
  return { namespacedSigners, signerNames, bundles: [], secrets, leases, renewsCertificates };
}
