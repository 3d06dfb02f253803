// SPDX-License-Identifier: Apache-2.0
/** Names of object identifiers for people, as in OpenSSL or the RFC. */
import * as oids from '#pki/der/oids.ts';

/** id-ad-ocsp, RFC 5280 §4.2.2.1. */
export const OID_OCSP = '1.3.6.1.5.5.7.48.1';
/** id-ad-caIssuers, RFC 5280 §4.2.2.1. */
export const OID_CA_ISSUERS = '1.3.6.1.5.5.7.48.2';

/** Signature algorithms, and algorithms of keys that Node does not know. */
export const SIGNATURE_NAMES: ReadonlyMap<string, string> = new Map([
  [oids.OID_RSA_SHA256, 'RSA with SHA-256'],
  [oids.OID_RSA_SHA384, 'RSA with SHA-384'],
  [oids.OID_RSA_SHA512, 'RSA with SHA-512'],
  [oids.OID_RSA_PSS, 'RSASSA-PSS'],
  [oids.OID_ECDSA_SHA256, 'ECDSA with SHA-256'],
  [oids.OID_ECDSA_SHA384, 'ECDSA with SHA-384'],
  [oids.OID_ECDSA_SHA512, 'ECDSA with SHA-512'],
  [oids.OID_ED25519, 'Ed25519'],
  [oids.OID_MLDSA65, 'ML-DSA-65'],
  ['1.2.840.113549.1.1.5', 'RSA with SHA-1'],
  ['1.2.840.113549.1.1.4', 'RSA with MD5'],
  ['1.2.840.10045.4.1', 'ECDSA with SHA-1'],
]);

/** Extended key usages by their names in RFC 5280 §4.2.1.12. */
export const PURPOSE_NAMES: ReadonlyMap<string, string> = new Map([
  [oids.OID_ANY_EXTENDED_KEY_USAGE, 'any'],
  [oids.OID_SERVER_AUTH, 'serverAuth'],
  [oids.OID_CLIENT_AUTH, 'clientAuth'],
  [oids.OID_CODE_SIGNING, 'codeSigning'],
  [oids.OID_EMAIL_PROTECTION, 'emailProtection'],
  [oids.OID_TIME_STAMPING, 'timeStamping'],
  [oids.OID_OCSP_SIGNING, 'OCSPSigning'],
]);

/** Extensions by their names in RFC 5280 §4.2. */
export const EXTENSION_NAMES: ReadonlyMap<string, string> = new Map([
  [oids.OID_SUBJECT_KEY_IDENTIFIER, 'subjectKeyIdentifier'],
  [oids.OID_KEY_USAGE, 'keyUsage'],
  [oids.OID_SUBJECT_ALT_NAME, 'subjectAltName'],
  [oids.OID_BASIC_CONSTRAINTS, 'basicConstraints'],
  [oids.OID_NAME_CONSTRAINTS, 'nameConstraints'],
  [oids.OID_AUTHORITY_KEY_IDENTIFIER, 'authorityKeyIdentifier'],
  [oids.OID_EXT_KEY_USAGE, 'extKeyUsage'],
  [oids.OID_CRL_DISTRIBUTION_POINTS, 'cRLDistributionPoints'],
  [oids.OID_CERTIFICATE_POLICIES, 'certificatePolicies'],
  [oids.OID_AUTHORITY_INFORMATION_ACCESS, 'authorityInfoAccess'],
  [oids.OID_CRL_NUMBER, 'cRLNumber'],
  [oids.OID_REASON_CODE, 'reasonCode'],
]);
