// SPDX-License-Identifier: Apache-2.0
// Defines object identifiers as dotted decimal text, by the names of the RFCs.

// Attributes of a Name (RFC 5280 appendix A.1, RFC 4519).
/** commonName, CN. */
export const OID_COMMON_NAME = '2.5.4.3';
/** countryName, C. */
export const OID_COUNTRY = '2.5.4.6';
/** localityName, L. */
export const OID_LOCALITY = '2.5.4.7';
/** stateOrProvinceName, ST. */
export const OID_STATE = '2.5.4.8';
/** streetAddress, STREET. */
export const OID_STREET = '2.5.4.9';
/** organizationName, O. */
export const OID_ORGANIZATION = '2.5.4.10';
/** organizationalUnitName, OU. */
export const OID_ORGANIZATIONAL_UNIT = '2.5.4.11';
/** domainComponent, DC. */
export const OID_DOMAIN_COMPONENT = '0.9.2342.19200300.100.1.25';
/** userId, UID. */
export const OID_USER_ID = '0.9.2342.19200300.100.1.1';
/** The API server takes a user's UID from it (feature gate AllowParsingUserUIDFromCertAuth). */
export const OID_KUBERNETES_USER_ID = '1.3.6.1.4.1.57683.2';

// Extensions (RFC 5280 §4.2.1).
/** subjectKeyIdentifier, RFC 5280 §4.2.1.2. */
export const OID_SUBJECT_KEY_IDENTIFIER = '2.5.29.14';
/** keyUsage, RFC 5280 §4.2.1.3. */
export const OID_KEY_USAGE = '2.5.29.15';
/** subjectAltName, RFC 5280 §4.2.1.6. */
export const OID_SUBJECT_ALT_NAME = '2.5.29.17';
/** basicConstraints, RFC 5280 §4.2.1.9. */
export const OID_BASIC_CONSTRAINTS = '2.5.29.19';
/** nameConstraints, RFC 5280 §4.2.1.10. */
export const OID_NAME_CONSTRAINTS = '2.5.29.30';
/** cRLNumber, RFC 5280 §5.2.3. */
export const OID_CRL_NUMBER = '2.5.29.20';
/** reasonCode of an entry of a CRL, RFC 5280 §5.3.1. */
export const OID_REASON_CODE = '2.5.29.21';
/** authorityKeyIdentifier, RFC 5280 §4.2.1.1. */
export const OID_AUTHORITY_KEY_IDENTIFIER = '2.5.29.35';
/** extKeyUsage, RFC 5280 §4.2.1.12. */
export const OID_EXT_KEY_USAGE = '2.5.29.37';

// Extensions of which only the syntax is checked (RFC 5280 §4.2.1, §4.2.2).
/** cRLDistributionPoints, RFC 5280 §4.2.1.13. */
export const OID_CRL_DISTRIBUTION_POINTS = '2.5.29.31';
/** certificatePolicies, RFC 5280 §4.2.1.4. */
export const OID_CERTIFICATE_POLICIES = '2.5.29.32';
/** policyMappings, RFC 5280 §4.2.1.5. */
export const OID_POLICY_MAPPINGS = '2.5.29.33';
/** policyConstraints, RFC 5280 §4.2.1.11. */
export const OID_POLICY_CONSTRAINTS = '2.5.29.36';
/** inhibitAnyPolicy, RFC 5280 §4.2.1.14. */
export const OID_INHIBIT_ANY_POLICY = '2.5.29.54';
/** authorityInfoAccess, RFC 5280 §4.2.2.1. */
export const OID_AUTHORITY_INFORMATION_ACCESS = '1.3.6.1.5.5.7.1.1';

// Extended key usages (RFC 5280 §4.2.1.12). Microsoft and Netscape define the last two.
/** anyExtendedKeyUsage: every purpose. */
export const OID_ANY_EXTENDED_KEY_USAGE = '2.5.29.37.0';
/** id-kp-serverAuth: TLS server authentication. */
export const OID_SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
/** id-kp-clientAuth: TLS client authentication. */
export const OID_CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
/** id-kp-codeSigning. */
export const OID_CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
/** id-kp-emailProtection. */
export const OID_EMAIL_PROTECTION = '1.3.6.1.5.5.7.3.4';
/** id-kp-ipsecEndSystem. */
export const OID_IPSEC_END_SYSTEM = '1.3.6.1.5.5.7.3.5';
/** id-kp-ipsecTunnel. */
export const OID_IPSEC_TUNNEL = '1.3.6.1.5.5.7.3.6';
/** id-kp-ipsecUser. */
export const OID_IPSEC_USER = '1.3.6.1.5.5.7.3.7';
/** id-kp-timeStamping. */
export const OID_TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
/** id-kp-OCSPSigning. */
export const OID_OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';
/** Microsoft server-gated cryptography. */
export const OID_MICROSOFT_SGC = '1.3.6.1.4.1.311.10.3.3';
/** Netscape server-gated cryptography. */
export const OID_NETSCAPE_SGC = '2.16.840.1.113730.4.1';

// Public keys (RFC 3279 §2.3.1, RFC 5480 §2.1.1, RFC 8410 §3, RFC 9881 §4).
/** rsaEncryption. */
export const OID_RSA = '1.2.840.113549.1.1.1';
/** id-ecPublicKey, with the curve as its parameter. */
export const OID_EC = '1.2.840.10045.2.1';
/** id-Ed25519: key and signature alike. */
export const OID_ED25519 = '1.3.101.112';
/** id-ml-dsa-65: key and signature alike. */
export const OID_MLDSA65 = '2.16.840.1.101.3.4.3.18';
/** secp256r1, the curve P-256. */
export const OID_P256 = '1.2.840.10045.3.1.7';
/** secp384r1, the curve P-384. */
export const OID_P384 = '1.3.132.0.34';
/** secp521r1, the curve P-521. */
export const OID_P521 = '1.3.132.0.35';

// Signatures and hashes (RFC 4055, RFC 5758).
/** sha256WithRSAEncryption: PKCS#1 v1.5. */
export const OID_RSA_SHA256 = '1.2.840.113549.1.1.11';
/** sha384WithRSAEncryption: PKCS#1 v1.5. */
export const OID_RSA_SHA384 = '1.2.840.113549.1.1.12';
/** sha512WithRSAEncryption: PKCS#1 v1.5. */
export const OID_RSA_SHA512 = '1.2.840.113549.1.1.13';
/** id-RSASSA-PSS, with hash, mask and salt length as its parameters. */
export const OID_RSA_PSS = '1.2.840.113549.1.1.10';
/** id-mgf1, the mask generation function of RSASSA-PSS. */
export const OID_MGF1 = '1.2.840.113549.1.1.8';
/** ecdsa-with-SHA256. */
export const OID_ECDSA_SHA256 = '1.2.840.10045.4.3.2';
/** ecdsa-with-SHA384. */
export const OID_ECDSA_SHA384 = '1.2.840.10045.4.3.3';
/** ecdsa-with-SHA512. */
export const OID_ECDSA_SHA512 = '1.2.840.10045.4.3.4';
/** id-sha256. */
export const OID_SHA256 = '2.16.840.1.101.3.4.2.1';
/** id-sha384. */
export const OID_SHA384 = '2.16.840.1.101.3.4.2.2';
/** id-sha512. */
export const OID_SHA512 = '2.16.840.1.101.3.4.2.3';

// PKCS#10 attributes (RFC 2985 §5.4.2).
/** extensionRequest: the extensions that a request contains. */
export const OID_EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

// Encryption of private keys (RFC 8018 appendix A, RFC 8018 appendix B.1, NIST AES).
/** id-PBES2: a key derivation and a cipher as its parameters. */
export const OID_PBES2 = '1.2.840.113549.1.5.13';
/** id-PBKDF2. */
export const OID_PBKDF2 = '1.2.840.113549.1.5.12';
/** id-hmacWithSHA256. */
export const OID_HMAC_SHA256 = '1.2.840.113549.2.9';
/** id-hmacWithSHA384. */
export const OID_HMAC_SHA384 = '1.2.840.113549.2.10';
/** id-hmacWithSHA512. */
export const OID_HMAC_SHA512 = '1.2.840.113549.2.11';
/** aes128-CBC-PAD, with the initialization vector as its parameter. */
export const OID_AES128_CBC = '2.16.840.1.101.3.4.1.2';
/** aes192-CBC-PAD. */
export const OID_AES192_CBC = '2.16.840.1.101.3.4.1.22';
/** aes256-CBC-PAD. */
export const OID_AES256_CBC = '2.16.840.1.101.3.4.1.42';
