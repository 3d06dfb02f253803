// SPDX-License-Identifier: Apache-2.0

/** How README.md begins. */
export const HEAD = `# The corpus

Files that a user could send, made again by the files beside this one whenever the tests run: no key is
ever committed. \`node test/oracle/corpus/write.ts\` writes this table, and a test holds it to what is so.

Requests are read as a signer reads them before its policy looks: decoded, key and signature checked, names
in canonical form. Certificates are leaves below one root and verified with it. PEM is what \`spec.request\`
of a CertificateSigningRequest may be. Go is \`crypto/x509\`, or for PEM what the API server does with it;
OpenSSL is \`openssl req -verify\` and \`openssl verify -x509_strict -partial_chain\`, of version 3.0.
`;
