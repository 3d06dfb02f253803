// SPDX-License-Identifier: Apache-2.0
// Defines object identifiers of PKCS#12 as dotted decimal text, by the names of RFC 7292 and
// RFC 2985.

/** id-data, RFC 5652 §4. */
export const OID_DATA = '1.2.840.113549.1.7.1';
/** pkcs-12-pkcs-8ShroudedKeyBag, RFC 7292 §4.2. */
export const OID_SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2';
/** pkcs-12-certBag, RFC 7292 §4.2. */
export const OID_CERT_BAG = '1.2.840.113549.1.12.10.1.3';
/** x509Certificate, RFC 7292 §4.2.3. */
export const OID_X509_CERTIFICATE = '1.2.840.113549.1.9.22.1';
/** friendlyName, RFC 2985 §5.5.1. */
export const OID_FRIENDLY_NAME = '1.2.840.113549.1.9.20';
/** localKeyId, RFC 2985 §5.5.2. */
export const OID_LOCAL_KEY_ID = '1.2.840.113549.1.9.21';
/**
 * trustedKeyUsage, an attribute of Oracle's. Java trusts a certificate without a key only if it has
 * this attribute (JDK-8076190, `sun.security.pkcs12.PKCS12KeyStore`).
 */
export const OID_TRUSTED_KEY_USAGE = '2.16.840.1.113894.746875.1.1';
/** id-encryptedData, RFC 5652 §8. */
export const OID_ENCRYPTED_DATA = '1.2.840.113549.1.7.6';
/** pkcs-12-keyBag, RFC 7292 §4.2: a key without encryption of its own. */
export const OID_KEY_BAG = '1.2.840.113549.1.12.10.1.1';
/** id-PBES2, RFC 8018 appendix A.4. */
export const OID_PBES2 = '1.2.840.113549.1.5.13';
