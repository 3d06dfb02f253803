// SPDX-License-Identifier: Apache-2.0
/** Asserts the chain of a leaf, and the anchors that verify it. */
import { quote } from '#base/quote.ts';
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { type Certificate } from '#pki/x509/certificate.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import { fail, pass, skip, unless } from '../case.ts';
import type { LeafAssertion } from '../snapshot.ts';

/**
 * Verifies the path to a trust anchor (RFC 5280 §6.1) at the API server's time when the run ended.
 */
export const chainsToAnchor: LeafAssertion = ({ leaf, chain, request }, { anchors }) => {
  if ('skipped' in anchors) return skip(anchors.skipped);
  const path = attempt(() =>
    verifyPath({
      leaf,
      intermediates: chain.slice(1),
      anchors: anchors.certificates,
      now: request.endedAt,
    }),
  );
  if (path instanceof SignerError) return fail(`${path.message} (${anchors.from})`);
  return pass(`${path.length} certificates to an anchor of ${anchors.from}`);
};

/** Passes when each certificate of the chain certifies its predecessor (RFC 8446 §4.4.2). */
export const isInOrder: LeafAssertion = ({ chain }) => {
  const fault = chain
    .slice(1)
    .map((issuer, index) => linkFault(chain[index], issuer))
    .find((each) => each !== undefined);
  return unless(fault, `${chain.length} certificates, leaf first`);
};

function linkFault(child: Certificate | undefined, issuer: Certificate): string | undefined {
  if (child === undefined) return undefined;
  const name = `"${nameText(issuer.subject)}"`;
  if (!sameBytes(child.issuer.raw, issuer.subject.raw)) {
    return `${name} is not the issuer of the preceding certificate`;
  }
  if (!issuer.isCa) return `${name} is not a CA`;
  const { signatureAlgorithm, tbs, signature } = child;
  return verifySignature(issuer.publicKey, signatureAlgorithm, tbs, signature)
    ? undefined
    : `the signature of the certificate before ${name} is not by it`;
}

/**
 * Passes when the chain omits the root, which a verifier has as its own anchor or does not trust
 * (RFC 8446 §4.4.2).
 */
export const hasNoRoot: LeafAssertion = ({ chain }) => {
  // A leaf of a CA without a name looks self-issued, too.
  const root = chain.slice(1).find(isSelfSigned);
  return unless(
    root === undefined ? undefined : `the chain holds the root "${nameText(root.subject)}"`,
    `${chain.length} certificates, none of them self-signed`,
  );
};

/**
 * Passes when the text holds CERTIFICATE blocks only. Parsers may ignore other text, and some
 * reject it (RFC 7468 §5.1).
 */
export const hasOnlyCertificateBlocks: LeafAssertion = ({ version }) => {
  const rest = version.pem.replaceAll(
    /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g,
    '',
  );
  return unless(
    rest.trim() === '' ? undefined : `beside CERTIFICATE blocks there is ${quote(rest.trim())}`,
    'CERTIFICATE blocks and nothing else',
  );
};

/**
 * Passes when the leaf expires no later than its CA, after which no verifier trusts it (RFC 5280
 * §6.1.3 (a)(2)).
 */
export const expiresBeforeCa: LeafAssertion = ({ leaf, chain }, { anchors }) => {
  const known = [...chain.slice(1), ...('certificates' in anchors ? anchors.certificates : [])];
  const issuers = known.filter((each) => issued(each, leaf));
  if (issuers.length === 0) return skip('no certificate of its CA is known');
  const last = Math.max(...issuers.map((each) => each.notAfter));
  return unless(
    leaf.notAfter <= last
      ? undefined
      : `the leaf ends at ${iso(leaf.notAfter)}, its CA at ${iso(last)}`,
    `the leaf ends at ${iso(leaf.notAfter)}, its CA at ${iso(last)}`,
  );
};

function issued(authority: Certificate, leaf: Certificate): boolean {
  if (!sameBytes(authority.subject.raw, leaf.issuer.raw)) return false;
  const { signatureAlgorithm, tbs, signature } = leaf;
  return verifySignature(authority.publicKey, signatureAlgorithm, tbs, signature);
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19);
}
