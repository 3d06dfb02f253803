// SPDX-License-Identifier: Apache-2.0
/** The public half of a CA, from the contents of its Secret or of its spec. */
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt, messageOf, type ErrorCode } from '#base/errors.ts';
import { quote } from '#base/quote.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import { decodeCertificate, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { deliveredChain, isSameCa } from '#pki/x509/delivered-chain.ts';
import { SignatureBudget, sameIn } from '#pki/x509/issuers.ts';
import { caFault, verifyPath, type PathOptions } from '#pki/x509/path.ts';
import { certificateLabel, sortAnchors, type SortedAnchors } from '#pki/x509/trust-bundle.ts';
import { judgeTrust } from '#pki/x509/verifier-rules.ts';
import type { AuthorityFacts, AuthorityMaterial } from './contract.ts';
import { readCrossCertificate } from './cross-certificate.ts';

/** The longest chain of a Secret. A longer one is a mistake. */
const MAX_CHAIN = 10;

/** Options of reading a CA's public half. */
export interface FactsOptions<A extends { readonly der: Uint8Array }> {
  /** Milliseconds since 1970 on the caller's clock. */
  readonly now: number;
  /** The limit of verified CA signatures. Default: the limit of every path. */
  readonly maxSignatures: number | undefined;
  /**
   * Returns the algorithm of the CA's signatures. Throws if it needs a key that is not there.
   *
   * @param chain - the certificates of `tls.crt`, in its order
   */
  readonly algorithmOf: (certificate: Certificate, chain: readonly Certificate[]) => A;
}

/**
 * Reads the public half of a CA. Checks once that the certificate is a valid CA, that its key is
 * strong, and that its chain leads to an anchor.
 *
 * @throws SignerError (`authority`) AUTHORITY_INVALID, AUTHORITY_EXPIRED or ANCHOR_MISSING
 */
export function readFacts<A extends { readonly der: Uint8Array }>(
  material: AuthorityMaterial,
  { now, maxSignatures, algorithmOf }: FactsOptions<A>,
): { readonly facts: AuthorityFacts; readonly algorithm: A } {
  const chain = readChain(material.certificate);
  const certificate = validOf(chain, now);
  requireCa(certificate, now);
  // An attacker who can compute the CA's private key can issue any leaf.
  readingSecretKey('tls.crt', () => checkKey(certificate.publicKey));
  const algorithm = algorithmOf(certificate, chain);
  // All that follows verifies no more signatures than this together.
  const signatures = new SignatureBudget(maxSignatures);
  const { anchors, omitted } = readRoots(material.anchors, chain, signatures);
  const path = { leaf: certificate, intermediates: chain, anchors, now, signatures };
  const anchor = anchorAbove(path, omitted);
  const intermediates = deliveredChain({ chain, anchors, now, signatures });
  if (material.anchorChosen !== true && !signatures.isSelfSigned(anchor))
    requireRoot(path, intermediates);
  const undelivered = undeliveredOf(chain, intermediates, { now, signatures });
  const cross =
    material.cross === undefined ? undefined : readCrossCertificate(material.cross, certificate);
  const facts: AuthorityFacts = Object.freeze({
    certificate,
    intermediates,
    anchors,
    fingerprint: fingerprint(certificate.raw),
    subject: certificate.subject.raw,
    keyIdentifier: requireKeyIdentifier(certificate),
    signatureAlgorithm: algorithm.der,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    reopenAt: nextChange([...chain, ...anchors], now),
    ...(cross === undefined ? {} : { cross }),
    ...(omitted.length === 0 ? {} : { omittedAnchors: omitted }),
    ...(undelivered.length === 0 ? {} : { omittedCertificates: undelivered }),
  });
  return { facts, algorithm };
}

/**
 * Returns the certificate of the CA: the first one in `tls.crt` that is valid. Several certificates
 * have one name and one key after the CA was renewed, or where two roots certified it. Without a
 * valid one it is the first, whose fault is the error.
 */
function validOf(chain: readonly [Certificate, ...Certificate[]], now: number): Certificate {
  const [first] = chain;
  const isValid = (each: Certificate): boolean => caFault(each, { below: 0, now }) === undefined;
  return chain.find((each) => isSameCa(each, first) && isValid(each)) ?? first;
}

/**
 * Returns when a certificate next becomes valid or expires. Infinity if none does. The validity
 * includes notAfter (RFC 5280 §4.1.2.5).
 */
function nextChange(certificates: readonly Certificate[], now: number): number {
  const times = certificates.flatMap(({ notBefore, notAfter }) => [notBefore, notAfter + 1]);
  return Math.min(...times.filter((time) => time > now));
}

/** Returns why each certificate of `tls.crt` is left out that is neither delivered nor a root. */
function undeliveredOf(
  chain: readonly Certificate[],
  sent: readonly Certificate[],
  { now, signatures }: Pick<FactsOptions<never>, 'now'> & { readonly signatures: SignatureBudget },
): readonly string[] {
  return chain.flatMap((each, index) => {
    if (sameIn(each, sent) !== undefined || signatures.isSelfSigned(each)) return [];
    const fault = caFault(each, { below: 0, now }) ?? 'does not lead from the CA to an anchor';
    return [`${certificateLabel(index, each.raw)} ${fault}`];
  });
}

function readChain(pem: string): readonly [Certificate, ...Certificate[]] {
  const blocks = readingSecretKey('tls.crt', () => decodePemAll(pem, 'CERTIFICATE'));
  if (blocks.length > MAX_CHAIN) throw invalid(`tls.crt holds more than ${MAX_CHAIN} certificates`);
  const [first, ...rest] = blocks.map((der, index) =>
    readingSecretKey(`tls.crt: ${certificateLabel(index, der)}`, () => decodeCertificate(der)),
  );
  if (first === undefined) throw invalid('tls.crt holds no certificate');
  return [first, ...rest];
}

function requireCa(certificate: Certificate, now: number): void {
  if (!certificate.isCa) {
    throw invalid('the first certificate of tls.crt is not a CA (basicConstraints lacks CA:TRUE)');
  }
  if (certificate.keyUsage !== undefined && !certificate.keyUsage.has('keyCertSign')) {
    throw invalid('the CA certificate may not sign certificates (keyUsage lacks keyCertSign)');
  }
  if (now >= certificate.notAfter) {
    throw invalid(
      `the CA certificate expired at ${new Date(certificate.notAfter).toISOString()}; renew it`,
      'AUTHORITY_EXPIRED',
    );
  }
  if (now < certificate.notBefore) {
    throw invalid(
      `the CA certificate is not valid before ${new Date(certificate.notBefore).toISOString()}`,
      'AUTHORITY_EXPIRED',
    );
  }
}

function readRoots(
  pem: string | undefined,
  chain: readonly Certificate[],
  signatures: SignatureBudget,
): SortedAnchors {
  if (pem !== undefined && pem.trim() !== '') {
    const sorted = readingSecretKey('ca.crt', () => sortAnchors(pem));
    if (sorted.anchors.length > 0) return sorted;
    throw invalid(`ca.crt holds no usable trust anchor: ${sorted.omitted.join('; ')}`);
  }
  const root = chain.findLast((each) => signatures.isSelfSigned(each));
  if (root !== undefined) return { anchors: [root], omitted: [] };
  throw invalid(
    'tls.crt has no self-signed certificate and there is no ca.crt with the root',
    'ANCHOR_MISSING',
  );
}

/**
 * Returns the anchor to which the CA chains, as each of its leaves must. Throws without one.
 *
 * @param omitted - the anchors that were left out: one of them may be the missing one
 */
function anchorAbove(path: PathOptions, omitted: readonly string[]): Certificate {
  if (path.anchors.some((anchor) => sameBytes(anchor.raw, path.leaf.raw))) return path.leaf;
  try {
    return verifyPath(path).at(-1) ?? path.leaf;
  } catch (error) {
    const others = omitted.length === 0 ? '' : `; in ca.crt ${omitted.join('; ')}`;
    throw invalid(`tls.crt: ${messageOf(error)}${others}`, 'AUTHORITY_INVALID', error);
  }
}

/**
 * Throws if the anchors have no root of the CA although tls.crt has it: OpenSSL, Node and Python
 * reject every leaf, and Go, GnuTLS and Java accept it (docs/reference/verifiers.md).
 */
function requireRoot(
  path: PathOptions & { readonly signatures: SignatureBudget },
  sent: readonly Certificate[],
): void {
  const { intermediates, anchors, now, signatures } = path;
  const rejected = judgeTrust({ chain: sent, anchors, now, signatures }).find(
    ({ rule }) => rule === 'anchor-is-root',
  );
  if (rejected === undefined) return;
  const root = intermediates
    .filter((each) => signatures.isSelfSigned(each))
    .find(
      (each) => !(attempt(() => verifyPath({ ...path, anchors: [each] })) instanceof SignerError),
    );
  if (root === undefined) return;
  throw invalid(
    `ca.crt has ${quote(nameText(rejected.certificate.subject))}, which is not a root, and lacks the root ${quote(nameText(root.subject))} that tls.crt has: OpenSSL, Node and Python would reject every certificate; write the root to ca.crt`,
    'ANCHOR_MISSING',
  );
}

function requireKeyIdentifier(certificate: Certificate): Uint8Array {
  if (certificate.subjectKeyIdentifier === undefined) {
    throw invalid('the CA certificate has no subjectKeyIdentifier (RFC 5280 §4.2.1.2)');
  }
  return certificate.subjectKeyIdentifier;
}

/**
 * Runs a decoder on one key of the Secret. Its errors get the disposition `authority` and the name
 * of that key.
 */
export function readingSecretKey<T>(where: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof SignerError && error.code === 'KEY_ENCRYPTED') {
      throw invalid(`${where}: ${error.message}`, 'KEY_ENCRYPTED');
    }
    throw invalid(`${where}: ${messageOf(error)}`, 'AUTHORITY_INVALID', error);
  }
}

/** Returns the error for an unusable CA. */
export function invalid(
  message: string,
  code: ErrorCode = 'AUTHORITY_INVALID',
  cause?: unknown,
): SignerError {
  return new SignerError({ code, disposition: 'authority', message, cause });
}
