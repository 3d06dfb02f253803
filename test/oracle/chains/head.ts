// SPDX-License-Identifier: Apache-2.0

/** How README.md begins. */
export const HEAD = `# The chains

Leaves below CAs that a user could put into a Secret or a bundle. The files beside this page make them
again whenever the tests run. \`node test/oracle/chains/write.ts\` writes this table, and a test holds it to
what is so. Go is \`Certificate.Verify\` for each purpose of the leaf; OpenSSL is
\`openssl verify -x509_strict -partial_chain\`, of version 3.0.
`;
