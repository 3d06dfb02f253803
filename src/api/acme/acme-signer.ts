// SPDX-License-Identifier: Apache-2.0
/**
 * AcmeClusterSigner and AcmeSigner. The schemas are deploy/crds/acme/acmeclustersigners.yaml and
 * acmesigners.yaml.
 */
import type * as z from 'zod';
import type { KubeObject } from '../object/object.ts';
import type { Condition } from '../request/conditions.ts';
import type { SignerObject, SignerSpec } from '../signer/cluster-signer.ts';
import type { ACME_SETTINGS, ACME_SOLVER } from './acme-signer-schema.ts';
import type { AcmeSignerRef } from './fields.ts';

/** `spec.acme`: the server, the account, and the solvers. */
export type AcmeSettings = z.output<typeof ACME_SETTINGS>;

/**
 * One way to prove control of names. Exactly one of `http01`, `rfc2136`, `acmeDNS`, `webhook` and
 * `persist` is set.
 */
export type AcmeSolver = z.output<typeof ACME_SOLVER>;

/** `acme` writes it. `countersign uninstall` writes its conditions. */
export interface AcmeSignerStatus {
  readonly observedGeneration?: number;
  /** Derived signer name of an AcmeSigner. AcmeClusterSigners do not have it. */
  readonly signerName?: string;
  readonly conditions?: readonly Condition[];
  readonly account?: {
    readonly url?: string;
    /** RFC 7638. */
    readonly keyThumbprint?: string;
    /** Thumbprint of the prepared key, until the account has that key. */
    readonly nextKeyThumbprint?: string;
    readonly externalAccountBound?: boolean;
  };
  readonly termsOfService?: string;
  readonly profiles?: readonly string[];
  readonly persistRecords?: readonly string[];
}

/**
 * An AcmeClusterSigner, or an AcmeSigner in the same shape with its derived signer name. `kind` and
 * `metadata.namespace` distinguish them. `spec.profile.backdate` is always `0s`: the CA decides
 * when a certificate begins.
 */
export interface AcmeSigner extends SignerObject {
  readonly spec: SignerSpec & { readonly acme: AcmeSettings };
  readonly status: AcmeSignerStatus;
}

/** Returns the reference by which Orders and Challenges name a signer. */
export function refOfAcmeSigner({ kind, metadata: { name } }: KubeObject): AcmeSignerRef {
  return { kind: kind === 'AcmeSigner' ? 'AcmeSigner' : 'AcmeClusterSigner', name };
}

/** Returns the type of challenge that a solver solves. */
export function challengeTypeOf({
  http01,
  persist,
}: Pick<AcmeSolver, 'http01' | 'persist'>): 'http-01' | 'dns-01' | 'dns-persist-01' {
  if (http01 !== undefined) return 'http-01';
  return persist === undefined ? 'dns-01' : 'dns-persist-01';
}

/**
 * Reports whether `acme-solver` presents and cleans up for this solver. Otherwise `acme-responder`
 * answers (http-01 without Ingress and Gateway), or the record stays indefinitely (dns-persist-01).
 */
export function needsSolver({ http01, persist }: AcmeSolver): boolean {
  if (persist !== undefined) return false;
  return http01 === undefined || http01.ingress !== undefined || http01.gateway !== undefined;
}
