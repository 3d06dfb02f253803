// SPDX-License-Identifier: Apache-2.0
import {
  readsPods,
  secretOf,
  type ClusterSigner,
  type SecretReference,
} from '../../api/signer/cluster-signer.ts';
import type { CaBundleTarget } from '../../api/object/ca-bundle-target.ts';
import { bundleName } from '../../api/object/cluster-trust-bundle.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import type { Component } from '../component/component.ts';
import type { LeasePlace } from '../component/leases.ts';

/** The API of a DNS provider that was written for cert-manager. */
export interface DnsWebhook {
  /** API group. */
  readonly group: string;
  /** Name of one of its solvers; all of them if left out. */
  readonly solver?: string | undefined;
}

/** The object names that a component's roles list in resourceNames, and what else the roles depend on. */
export interface PermissionNames {
  readonly signerNames: readonly string[];
  /** Object names of ClusterTrustBundles: `example.com:workload:primary`. */
  readonly bundles: readonly string[];
  readonly secrets: readonly SecretReference[];
  /** Whether Signers are served as well as ClusterSigners. */
  readonly namespacedSigners?: boolean;
  /** The CA Secrets of Signers that an administrator granted; they are read and never written. */
  readonly signerSecrets?: readonly SecretReference[];
  /** The Secrets of DNS credentials, which `acme-solver` reads. */
  readonly solverSecrets?: readonly SecretReference[];
  /** The APIs of DNS providers, which `acme-solver` asks. */
  readonly dnsWebhooks?: readonly DnsWebhook[];
  /** Secrets of cert-manager that `pod-refresher` may read, where no CertificateRequest tells what they hold. */
  readonly refreshSecrets?: readonly SecretReference[];
  /** Objects into whose `caBundle` `trust-distributor` writes. */
  readonly caBundles?: readonly CaBundleTarget[];
  /** Secrets whose certificates `ledger` looks at. */
  readonly monitoredSecrets?: readonly SecretReference[];
  /** Account keys of ACME that `authority` makes; undefined: the installation has no ACME. */
  readonly accountKeys?: readonly SecretReference[] | undefined;
  /** Whether `acme` marks Certificates of cert-manager when their CA wants them renewed. */
  readonly renewsCertificates?: boolean | undefined;
  /** Where the replicas keep their Leases; undefined: they use none. */
  readonly leases?: LeasePlace | undefined;
  /** The components' namespace, where `authority` fills in the certificates of their ports. */
  readonly ownTls?: string | undefined;
  /** Whether `pcr-issuer` reads pods and Services, whose names it proves. */
  readonly podServices?: boolean | undefined;
  /** Foreign trust domains, whose bundles `federation` writes. */
  readonly federated?: readonly string[];
  /** Whether `pcr-issuer` and `pod-refresher` read the records of the ledger. */
  readonly ledgerFacts?: boolean | undefined;
  /** Whether `notifier` reads pods, whose certificates nobody has renewed. */
  readonly notifiedPods?: boolean | undefined;
  /** Whether `authority` signs CRLs, so that Revocations are read. */
  readonly crls?: boolean;
}

/**
 * The names of the ClusterSigners that are served, and the place of our Leases. Names of Signers are left
 * out: a Signer that names a Secret which was not granted must not make the component unready.
 */
export function namesOf(
  served: readonly ClusterSigner[],
  { leases, namespacedSigners }: Pick<Component, 'leases' | 'namespacedSigners'>,
): PermissionNames {
  const signers = served.filter((each) => !isNamespaced(each));
  return {
    namespacedSigners,
    podServices: signers.some(({ spec }) => readsPods(spec)),
    signerNames: signers.map((each) => each.spec.signerName),
    bundles: signers.flatMap(({ spec }) =>
      spec.trustBundle === undefined ? [] : [bundleName(spec.signerName, spec.trustBundle.name)],
    ),
    secrets: signers.map((each) => secretOf(each.spec)),
    ...(signers.some(({ spec }) => spec.profile.crl !== undefined) ? { crls: true } : {}),
    leases,
  };
}
