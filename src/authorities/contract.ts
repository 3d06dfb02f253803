// SPDX-License-Identifier: Apache-2.0
import type { SigningCa } from '../issuance/signing-ca.ts';
import type { Prepared } from '../issuance/prepare.ts';
import type { Certificate } from '../pki/x509/certificate.ts';
import type { PreparedList } from '../revocation/prepared-list.ts';
import type { AuthorityKeyType } from '../vocabulary.ts';

/** The public facts of a CA as a signer uses it. */
export interface AuthorityFacts extends SigningCa {
  readonly certificate: Certificate;
  /** The chain that is delivered after a leaf: the issuing CA upwards, without the root. */
  readonly intermediates: readonly Certificate[];
  /** The trust anchors that its leaves chain to; at least one. */
  readonly anchors: readonly Certificate[];
  /** Its key, certified by the CA before it. The signer's spec decides whether it is still delivered. */
  readonly cross?: CrossCertificate;
}

/** A CA's key, certified by the CA before it, for verifiers that trust only the earlier root (ADR 0022). */
export interface CrossCertificate {
  readonly certificate: Certificate;
  /** `sha256:<hex>` of the CA certificate that signed it. */
  readonly issuer: string;
}

/**
 * A CA behind a signer.
 *
 * The caller retries; `sign` never does. Nothing is durable when it returns: the caller keeps the DER
 * until it is delivered, and meanwhile does not call again for the same request. Calls may run
 * concurrently.
 */
export interface Authority {
  readonly facts: AuthorityFacts;
  /**
   * Signs a prepared certificate, once: a second call with the same `prepared` throws.
   *
   * @param signal - aborts the call where signing is remote
   * @returns the certificate's DER
   * @throws SignerError `authority` when the CA is unusable, `retry` when it is unavailable for the
   * moment, `fail` only when this request can never be signed
   */
  sign(prepared: Prepared, signal: AbortSignal): Promise<Uint8Array>;
  /**
   * Signs a CRL, where the CA's key is at hand; a CA elsewhere publishes its own.
   *
   * @returns the CRL's DER
   * @throws SignerError (`authority`) AUTHORITY_INVALID when the CA may not sign CRLs, CORRESPONDENCE when the list is
   * another CA's
   */
  readonly signList?: (list: PreparedList) => Uint8Array;
}

/** The contents of a `kubernetes.io/tls` Secret with an optional `ca.crt`; each text is PEM. */
export interface AuthorityMaterial {
  /** `tls.crt`: the CA's certificate, then its chain. */
  readonly certificate: string;
  /** `tls.key`. */
  readonly key: string;
  /** `ca.crt`: the trust anchors; required when `certificate` does not end with a self-issued one. */
  readonly anchors: string | undefined;
  /** Of a managed CA: its cross-certificate, then the certificate of the CA that signed it. */
  readonly cross?: string;
}

/**
 * Opens a CA from the contents of its Secret. Callers get this function passed in, so that `kube` and
 * `authorities` do not import each other.
 *
 * `now` is milliseconds since 1970 on the caller's clock. `maxSignatures` bounds how many signatures the search for the
 * way to an anchor verifies.
 *
 * @throws SignerError AUTHORITY_INVALID, AUTHORITY_EXPIRED, ANCHOR_MISSING or KEY_ENCRYPTED (`authority`)
 */
export type OpenAuthority = (
  material: AuthorityMaterial,
  now: number,
  maxSignatures?: number,
) => Authority;

/** Creates a managed CA, which the `authority` component stores in a Secret. */
export type CreateAuthority = (wanted: {
  readonly keyType: AuthorityKeyType;
  readonly commonName: string;
  /** From `now` to notAfter. */
  readonly durationSeconds: number;
  /** Whether it can certify the key of its successor: its pathLenConstraint is then 1, else 0. */
  readonly crossSigned?: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}) => Promise<AuthorityMaterial & { readonly anchors: string }>;

/**
 * Certifies the key of a managed CA (`next`) by the CA before it (`old`). `now` is milliseconds since 1970.
 *
 * @returns the PEM that becomes `cross` of `next`; undefined when `old` may not certify CAs, or expires
 * before `next` becomes valid
 * @throws SignerError (`authority`) when either CA cannot be used
 */
export type CrossSign = (pair: {
  readonly old: AuthorityMaterial;
  readonly next: AuthorityMaterial;
  readonly now: number;
}) => Promise<string | undefined>;
