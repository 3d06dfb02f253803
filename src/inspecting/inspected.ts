// SPDX-License-Identifier: Apache-2.0
/** What `countersign inspect` says of one thing. Its JSON is an API: fields are added, and none changes its meaning. */
import type { DecodedSubjectAltNames } from '../pki/names/general-names.ts';

/** Where a thing was found. */
export interface Whereabouts {
  /** `chain.pem`, `csr/alice status.certificate`, `https://example.com`, and which of several there. */
  readonly source: string;
}

/** A public key. */
export interface InspectedKey {
  /** `ECDSA P-256`, `RSA 2048`, `Ed25519`; the OID where it has no name. */
  readonly type: string;
  /** SHA-256 of the SubjectPublicKeyInfo: equal for all that have one key. */
  readonly sha256: string;
}

/** One extension. */
export interface InspectedExtension {
  readonly oid: string;
  readonly name?: string;
  readonly critical: boolean;
}

/** What extensions say, of a certificate or of a request. */
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
export interface InspectedCertificate extends Whereabouts, InspectedExtensions {
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
  /** SHA-256 of the whole, as `sha256:…`. */
  readonly fingerprint: string;
  /** Why our own reader refuses it, if it does. */
  readonly refusedBecause?: string;
  readonly alias?: string;
}

/** A PKCS#10 request. */
export interface InspectedRequest extends Whereabouts, InspectedExtensions {
  readonly kind: 'request';
  readonly subject: string;
  readonly key: InspectedKey;
  readonly signatureAlgorithm: string;
  readonly isSignatureValid: boolean;
  readonly refusedBecause?: string;
}

/** A CRL. */
export interface InspectedList extends Whereabouts {
  readonly kind: 'crl';
  readonly issuer: string;
  readonly thisUpdate: string;
  readonly nextUpdate?: string;
  /** Decimal. */
  readonly number?: string;
  readonly signatureAlgorithm: string;
  /** The first thousand. */
  readonly revoked: readonly {
    readonly serial: string;
    readonly at: string;
    readonly reason?: string;
  }[];
  readonly revokedCount: number;
}

/** A private key: what its public half says, never more. */
export interface InspectedPrivateKey extends Whereabouts {
  readonly kind: 'private key';
  readonly isEncrypted: boolean;
  readonly key?: InspectedKey;
  readonly alias?: string;
}

/** A public key on its own. */
export interface InspectedPublicKey extends Whereabouts {
  readonly kind: 'public key';
  readonly key: InspectedKey;
}

/** One thing. */
export type Inspected =
  | InspectedCertificate
  | InspectedRequest
  | InspectedList
  | InspectedPrivateKey
  | InspectedPublicKey;

/** One thing and its DER: a private key has none here, so that nothing can print it. */
export interface Found {
  readonly what: Inspected;
  readonly der?: Uint8Array;
}
