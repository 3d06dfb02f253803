// SPDX-License-Identifier: Apache-2.0
import {
  readsPods,
  secretOrNone,
  type ClusterSigner,
  type SecretReference,
} from '#api/signer/cluster-signer.ts';
import type { CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { upstreamIssuersOf } from '#api/signer/upstream-issuer.ts';
import type { Component } from '../contract.ts';
import type { LeasePlace } from '../leases.ts';

/** The API of a DNS provider that was written for cert-manager. */
export interface DnsWebhook {
  /** API group. */
  readonly group: string;
  /** Name of one of its solvers. Default: all of them. */
  readonly solver?: string | undefined;
}

/**
 * The object names that a component's roles list in resourceNames, and what else the roles depend
 * on.
 */
export interface PermissionNames {
  readonly signerNames: readonly string[];
  /** Domains of which a component may serve every signer name. Default: none. */
  readonly signerDomains?: readonly string[];
  /** Object names of ClusterTrustBundles: `example.com:workload:primary`. */
  readonly bundles: readonly string[];
  readonly secrets: readonly SecretReference[];
  /** Whether Signers are served as well as ClusterSigners. */
  readonly namespacedSigners?: boolean;
  /** The CA Secrets of Signers that an administrator granted. They are read and never written. */
  readonly signerSecrets?: readonly SecretReference[];
  /** The Secrets of DNS credentials, which `acme-solver` reads. */
  readonly solverSecrets?: readonly SecretReference[];
  /** The APIs of DNS providers that `acme-solver` calls. */
  readonly dnsWebhooks?: readonly DnsWebhook[];
  /**
   * Secrets of cert-manager that `pod-refresher` may read, if no CertificateRequest shows what they
   * hold.
   */
  readonly refreshSecrets?: readonly SecretReference[];
  /** Objects into whose `caBundle` `trust-distributor` writes. */
  readonly caBundles?: readonly CaBundleTarget[];
  /** Secrets whose certificates `ledger` reads. */
  readonly monitoredSecrets?: readonly SecretReference[];
  /** Account keys of ACME that `authority` creates. Undefined if the installation has no ACME. */
  readonly accountKeys?: readonly SecretReference[] | undefined;
  /** True if `acme` marks Certificates of cert-manager when their CA suggests a renewal. */
  readonly renewsCertificates?: boolean | undefined;
  /** The place of the replicas' Leases. Undefined if they use none. */
  readonly leases?: LeasePlace | undefined;
  /**
   * The components, and their namespace, where `authority` fills the certificates of their ports.
   */
  readonly ownTls?:
    { readonly namespace: string; readonly components: readonly string[] } | undefined;
  /** True if `pcr-issuer` reads pods and Services, whose names it verifies. */
  readonly podServices?: boolean | undefined;
  /** Foreign trust domains, whose bundles `federation` writes. */
  readonly federated?: readonly string[];
  /** True if `pcr-issuer` and `pod-refresher` read the records of the ledger. */
  readonly ledgerFacts?: boolean | undefined;
  /**
   * True if the API server serves the ledger's API. `authority` then fills in its `caBundle`, and
   * `ledger` trusts the API server.
   */
  readonly aggregatedApi?: boolean | undefined;
  /** True if `notifier` reads pods, to find certificates that are not renewed. */
  readonly notifiedPods?: boolean | undefined;
  /**
   * Issuers of cert-manager that sign managed CAs, as `<namespace>/<Kind>.<group>/<name>`.
   * `authority` creates CertificateRequests in their namespaces.
   */
  readonly upstreamIssuers?: readonly string[];
  /** True if `authority` signs CRLs, so that Revocations are read. */
  readonly crls?: boolean;
}

/**
 * Returns the names of the served ClusterSigners, and the place of the Leases. Omits names of
 * Signers: a Signer that names a Secret without a grant must not make the component unready.
 */
export function namesOf(
  served: readonly ClusterSigner[],
  { leases, namespacedSigners }: Pick<Component, 'leases' | 'namespacedSigners'>,
): PermissionNames {
  const signers = served.filter((each) => !isNamespaced(each));
  const upstreamIssuers = upstreamIssuersOf(signers.map(({ spec }) => spec));
  return {
    namespacedSigners,
    ...(upstreamIssuers.length === 0 ? {} : { upstreamIssuers }),
    podServices: signers.some(({ spec }) => readsPods(spec)),
    signerNames: signers.map((each) => each.spec.signerName),
    bundles: signers.flatMap(({ spec }) =>
      spec.trustBundle === undefined ? [] : [bundleName(spec.signerName, spec.trustBundle.name)],
    ),
    secrets: signers.flatMap((each) => secretOrNone(each.spec) ?? []),
    ...(signers.some(({ spec }) => spec.profile.crl !== undefined) ? { crls: true } : {}),
    leases,
  };
}
