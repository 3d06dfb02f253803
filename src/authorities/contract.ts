// SPDX-License-Identifier: Apache-2.0
import type { Issuer } from '../issuance/issuer.ts';
import type { Prepared } from '../issuance/prepare.ts';
import type { Certificate } from '../pki/certificate.ts';
import type { AuthorityKeyType } from '../vocabulary.ts';

/** The public half of a CA as a signer uses it. */
export interface AuthorityFacts extends Issuer {
  readonly certificate: Certificate;
  /** What a leaf is delivered with after itself: the issuing CA upwards, without the root. */
  readonly intermediates: readonly Certificate[];
  /** Roots that its leaves chain to; at least one. */
  readonly anchors: readonly Certificate[];
}

/**
 * A CA behind a signer.
 *
 * The caller retries; `sign` never does. Nothing is durable when it returns: the caller keeps the
 * DER until it is delivered, and does not ask again for the same request meanwhile. Calls may run
 * concurrently.
 */
export interface Authority {
  readonly facts: AuthorityFacts;
  /**
   * Spends `prepared` and returns the certificate's DER.
   *
   * @throws SignerError: `authority` when the CA is unusable, `retry` for what passes by itself,
   * `fail` only when this very request can never be signed
   */
  sign(prepared: Prepared, signal: AbortSignal): Promise<Uint8Array>;
}

/** The bytes of a `kubernetes.io/tls` Secret with an optional `ca.crt`; texts are PEM. */
export interface AuthorityMaterial {
  readonly certificate: string;
  readonly key: string;
  /** Anchors; required where `certificate` does not end in a self-signed certificate. */
  readonly anchors: string | undefined;
}

/**
 * Opens a CA from its material: how a Secret's bytes reach `authorities/local` without `kube` and
 * `authorities` knowing each other.
 *
 * @throws SignerError AUTHORITY_INVALID, AUTHORITY_EXPIRED, KEY_ENCRYPTED … (`authority`)
 */
export type OpenAuthority = (material: AuthorityMaterial, now: number) => Authority;

/** Makes a new managed CA; what the `authority` component stores. */
export type CreateAuthority = (wanted: {
  readonly keyType: AuthorityKeyType;
  readonly commonName: string;
  readonly durationSeconds: number;
  readonly now: number;
}) => Promise<AuthorityMaterial & { readonly anchors: string }>;
