// SPDX-License-Identifier: Apache-2.0
import type { SigningCa } from '../issuance/signing-ca.ts';
import type { PreparedCertificate } from '../issuance/prepare.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import type { PreparedList } from '../revocation/prepared-list.ts';
import type { AuthorityKeyType } from '#base/vocabulary.ts';

/** The public facts of a CA as a signer uses it. */
export interface AuthorityFacts extends SigningCa {
  readonly certificate: Certificate;
  /**
   * The chain that follows a leaf: the issuing CA upwards, without roots. Only certificates that
   * were valid when it was opened and lead to an anchor.
   */
  readonly intermediates: readonly Certificate[];
  /** The trust anchors of its leaves, at least one. */
  readonly anchors: readonly Certificate[];
  /**
   * Its key, certified by the previous CA. The signer's spec decides whether signers still deliver
   * it.
   */
  readonly cross?: CrossCertificate;
  /** The faults of the certificates of `ca.crt` that are left out of the anchors. */
  readonly omittedAnchors?: readonly string[];
  /** The faults of the certificates of `tls.crt` that no leaf comes with. */
  readonly omittedCertificates?: readonly string[];
  /**
   * When a certificate of `tls.crt` or an anchor next becomes valid or expires, in milliseconds
   * since 1970. From then on, opening the CA again may select others.
   */
  readonly reopenAt: number;
}

/**
 * A CA's key, certified by the previous CA, for verifiers that trust only the earlier root (ADR
 * 0022).
 */
export interface CrossCertificate {
  readonly certificate: Certificate;
  /** `sha256:<hex>` of the CA certificate that signed it. */
  readonly issuer: string;
}

/**
 * A CA behind a signer.
 *
 * Only the caller retries. `sign` resends the same bytes only to a key holder whose answer was
 * lost. Nothing is durable when it returns: the caller keeps the DER until it is
 * delivered, and meanwhile does not call again for the same request. Calls may run concurrently.
 */
export interface Authority {
  readonly facts: AuthorityFacts;
  /** Its key if that is in a key holder. */
  readonly heldKey?: HeldKeyReference;
  /**
   * Signs a prepared certificate, once: a second call with the same `prepared` throws.
   *
   * @param signal - aborts the call if signing is remote
   * @returns the certificate's DER
   * @throws SignerError `authority` when the CA is unusable, `retry` when it is temporarily
   *   unavailable, `fail` only when this request can never be signed
   */
  sign(prepared: PreparedCertificate, signal: AbortSignal): Promise<Uint8Array>;
  /**
   * Signs a CRL, if the CA's key is at hand. An external CA publishes its own.
   *
   * @returns the CRL's DER
   * @throws SignerError (`authority`) AUTHORITY_INVALID when the CA may not sign CRLs,
   *   CORRESPONDENCE when the list belongs to another CA
   */
  readonly signList?: (list: PreparedList) => Uint8Array;
}

/** The contents of a `kubernetes.io/tls` Secret with an optional `ca.crt`. Each text is PEM. */
export interface AuthorityMaterial {
  /** `tls.crt`: the CA's certificate, then its chain. */
  readonly certificate: string;
  /** `tls.key`. */
  readonly key: string;
  /**
   * `ca.crt`: the trust anchors. Required when `certificate` does not end with a self-issued one.
   */
  readonly anchors: string | undefined;
  /**
   * True if the anchor need not be a root: the spec of a managed CA chose it. Otherwise an anchor
   * without its root is an error where `certificate` has that root.
   */
  readonly anchorChosen?: boolean;
  /** The cross-certificate of a managed CA, then the certificate of the CA that signed it. */
  readonly cross?: string;
  /** Its key if that is in a key holder. `key` is then empty. */
  readonly heldKey?: HeldKeyReference;
}

/** A key in a key holder. */
export interface HeldKeyReference {
  /** Its name in the configuration of the holder. */
  readonly name: string;
  /** The signer name for which it is used. The owner of the key must have listed it. */
  readonly signerName: string;
}

/**
 * Opens a CA from the contents of its Secret. Callers get this function passed in, so that `kube`
 * and `ca/custody` do not import each other.
 *
 * `now` is milliseconds since 1970 on the caller's clock. `maxSignatures` limits the verified
 * signatures of the search for a path to an anchor.
 *
 * @throws SignerError AUTHORITY_INVALID, AUTHORITY_EXPIRED, ANCHOR_MISSING or KEY_ENCRYPTED
 *   (`authority`)
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
  /** The seconds from `now` to notAfter. */
  readonly durationSeconds: number;
  /**
   * True if it can certify the key of its successor, or the keys of other clusters: its
   * pathLenConstraint is then 1, else 0.
   */
  readonly crossSigned?: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}) => Promise<AuthorityMaterial & { readonly anchors: string }>;

/** A key of a managed CA without a certificate. Both are PEM. */
export interface RequestedCa {
  readonly key: string;
  /** PKCS#10, signed by the key. */
  readonly request: string;
}

/** Creates the key of a managed CA whose certificate another CA signs, and its request. */
export type CreateCaRequest = (wanted: {
  readonly keyType: AuthorityKeyType;
  readonly commonName: string;
  /** True if the CA must be able to certify the key of its successor. */
  readonly crossSigned: boolean;
  /** Name of the cluster, for a hub. It becomes the organization of the subject. */
  readonly cluster?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}) => Promise<RequestedCa>;

/**
 * Certifies the key of a managed CA (`next`) by the previous CA (`old`). `now` is milliseconds
 * since 1970.
 *
 * @returns the PEM that becomes `cross` of `next`. Undefined when `old` may not certify CAs, or
 *   expires before `next` becomes valid.
 * @throws SignerError (`authority`) when either CA is unusable
 */
export type CrossSign = (pair: {
  readonly old: AuthorityMaterial;
  readonly next: AuthorityMaterial;
  readonly now: number;
}) => Promise<string | undefined>;
