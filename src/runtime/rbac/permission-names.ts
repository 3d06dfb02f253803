// SPDX-License-Identifier: Apache-2.0
import {
  secretOf,
  type ClusterSigner,
  type SecretReference,
} from '../../api/signer/cluster-signer.ts';
import { bundleName } from '../../api/object/cluster-trust-bundle.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import type { Component } from '../component/component.ts';
import type { LeasePlace } from '../component/leases.ts';

/** The names that a component's role must spell out. */
export interface PermissionNames {
  readonly signerNames: readonly string[];
  /** Object names of ClusterTrustBundles: `example.com:workload:primary`. */
  readonly bundles: readonly string[];
  readonly secrets: readonly SecretReference[];
  /** Whether the Signers of namespaces are served, too. */
  readonly namespacedSigners?: boolean;
  /** The Secrets of Signers that were granted: each is read where it lies, and never written. */
  readonly signerSecrets?: readonly SecretReference[];
  /** Absent: no Leases are taken. */
  readonly leases?: LeasePlace | undefined;
  /** The components' namespace, where `authority` fills in the certificates of their ports. */
  readonly ownTls?: string | undefined;
}

/**
 * The names of the ClusterSigners that are served, and the place of our Leases. No Signer's are among
 * them: a namespace that names a Secret which nobody granted us must not make us lack a right.
 */
export function namesOf(
  served: readonly ClusterSigner[],
  { leases, namespacedSigners }: Pick<Component, 'leases' | 'namespacedSigners'>,
): PermissionNames {
  const signers = served.filter((each) => !isNamespaced(each));
  return {
    namespacedSigners,
    signerNames: signers.map((each) => each.spec.signerName),
    bundles: signers.flatMap(({ spec }) =>
      spec.trustBundle === undefined ? [] : [bundleName(spec.signerName, spec.trustBundle.name)],
    ),
    secrets: signers.map((each) => secretOf(each.spec)),
    leases,
  };
}
