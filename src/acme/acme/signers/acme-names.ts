// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import type { Component } from '#component/contract.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import { secretsOfAccounts } from './account-secrets.ts';

/**
 * Returns the names that the component's permissions depend on, without AcmeSigners. One that names
 * a Secret without a grant must not make the component unready.
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
