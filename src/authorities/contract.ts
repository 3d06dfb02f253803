// SPDX-License-Identifier: Apache-2.0
import type { SigningCa } from '../issuance/signing-ca.ts';
import type { Prepared } from '../issuance/prepare.ts';
import type { Certificate } from '../pki/x509/certificate.ts';
import type { AuthorityKeyType } from '../vocabulary.ts';

/** The public half of a CA as a signer uses it. */
export interface AuthorityFacts extends SigningCa {
  readonly certificate: Certificate;
  /** What a leaf is delivered with after itself: the issuing CA upwards, without the root. */
  readonly intermediates: readonly Certificate[];
  /** Roots that its leaves chain to; at least one. */
  readonly anchors: readonly Certificate[];
  /** Certifies its key by the CA before it; whether that may still be told is the spec's matter. */
  readonly cross?: CrossCertificate;
}

/** A CA's key, certified by the CA before it, for verifiers that have only that one's root. */
export interface CrossCertificate {
  readonly certificate: Certificate;
  /** `sha256:<hex>` of the CA that signed it. */
  readonly issuer: string;
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
  /** Of a managed CA: its cross-certificate, then the CA that signed it. */
  readonly cross?: string;
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
  /** It shall be able to certify its successor's key. */
  readonly crossSigned?: boolean;
  readonly now: number;
}) => Promise<AuthorityMaterial & { readonly anchors: string }>;

/**
 * Certifies the key of a managed CA by the CA before it.
 *
 * @returns what becomes `cross` of `next`; undefined where `old` was not made to certify CAs, or ends
 * before `next` begins
 * @throws SignerError where `old` cannot be used (`authority`)
 */
export type CrossSign = (pair: {
  readonly old: AuthorityMaterial;
  readonly next: AuthorityMaterial;
  readonly now: number;
}) => Promise<string | undefined>;
