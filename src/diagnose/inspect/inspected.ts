// SPDX-License-Identifier: Apache-2.0
/**
 * The result of `countersign inspect` for one object. Its JSON is an API: fields may be added, but
 * never change their meaning.
 */
import type { DecodedSubjectAltNames } from '#pki/names/general-names.ts';

/** Source of an object. */
export interface SourceLocation {
  /**
   * `chain.pem`, `csr/alice status.certificate`, or `https://example.com`, with an index if the
   * source has several objects.
   */
  readonly source: string;
}

/** A public key. */
export interface InspectedKey {
  /** `ECDSA P-256`, `RSA 2048`, `Ed25519`, or an OID without a known name. */
  readonly type: string;
  /** SHA-256 of the SubjectPublicKeyInfo: equal for all objects with the same key. */
  readonly sha256: string;
}

/** One extension. */
export interface InspectedExtension {
  readonly oid: string;
  readonly name?: string;
  readonly critical: boolean;
}

/** Values of the extensions of a certificate or a request. */
export interface InspectedExtensions {
  readonly names: DecodedSubjectAltNames;
  readonly keyUsage?: readonly string[];
  readonly extKeyUsage?: readonly string[];
  readonly isCa: boolean;
  readonly pathLen?: number;
  /** Hexadecimal. */
  readonly subjectKeyIdentifier?: string;
  /** Hexadecimal. */
  readonly authorityKeyIdentifier?: string;
  readonly crls?: readonly string[];
  readonly ocsp?: readonly string[];
  readonly issuers?: readonly string[];
  readonly extensions: readonly InspectedExtension[];
}

/** An X.509 certificate. */
export interface InspectedCertificate extends SourceLocation, InspectedExtensions {
  readonly kind: 'certificate';
  /** RFC 4514. */
  readonly subject: string;
  readonly issuer: string;
  /** Hexadecimal. */
  readonly serial: string;
  readonly version: number;
  /** RFC 3339. */
  readonly notBefore: string;
  readonly notAfter: string;
  readonly key: InspectedKey;
  readonly signatureAlgorithm: string;
  /** SHA-256 of the DER, as `sha256:…`. */
  readonly fingerprint: string;
  /** Error of Countersign's strict reader, if it rejects the certificate. */
  readonly refusedBecause?: string;
  readonly alias?: string;
}

/** A PKCS#10 request. */
export interface InspectedRequest extends SourceLocation, InspectedExtensions {
  readonly kind: 'request';
  readonly subject: string;
  readonly key: InspectedKey;
  readonly signatureAlgorithm: string;
  readonly isSignatureValid: boolean;
  /** True if it only proves the key of a PodCertificateRequest, which has the names itself. */
  readonly isStub?: true;
  /** The reason for which every signer of Countersign refuses it, with any spec. */
  readonly refusedBecause?: string;
}

/** A CRL. */
export interface InspectedList extends SourceLocation {
  readonly kind: 'crl';
  readonly issuer: string;
  readonly thisUpdate: string;
  readonly nextUpdate?: string;
  /** Decimal. */
  readonly number?: string;
  readonly signatureAlgorithm: string;
  /** The first 1000 entries. */
  readonly revoked: readonly {
    readonly serial: string;
    readonly at: string;
    readonly reason?: string;
  }[];
  readonly revokedCount: number;
}

/** A private key. Only its public key is inspected. */
export interface InspectedPrivateKey extends SourceLocation {
  readonly kind: 'private key';
  readonly isEncrypted: boolean;
  readonly key?: InspectedKey;
  readonly alias?: string;
}

/** A public key on its own. */
export interface InspectedPublicKey extends SourceLocation {
  readonly kind: 'public key';
  readonly key: InspectedKey;
}

/** An inspected object. */
export type InspectedObject =
  | InspectedCertificate
  | InspectedRequest
  | InspectedList
  | InspectedPrivateKey
  | InspectedPublicKey;

/** An inspected object and its DER. A private key has no DER here, so nothing can print it. */
export interface InspectedItem {
  readonly what: InspectedObject;
  readonly der?: Uint8Array;
  /** Signer name of the request whose certificate it is. */
  readonly signer?: string;
}
