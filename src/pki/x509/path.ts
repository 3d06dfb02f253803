// SPDX-License-Identifier: Apache-2.0
import { quote } from '#base/quote.ts';
import { SignerError } from '#base/errors.ts';
import type { Certificate, TbsCertificate } from './certificate.ts';
import { violatedConstraint } from '../extensions/name-constraints.ts';
import { nameText } from '../names/distinguished-name.ts';
import { OID_ANY_EXTENDED_KEY_USAGE } from '../der/oids.ts';
import { MAX_SIGNATURES, SignatureBudget, issuersOf, sameIn } from './issuers.ts';

/** A leaf, and the certificates that its path may contain. */
export interface PathOptions {
  readonly leaf: Certificate;
  /**
   * The CA that signed the leaf, if it is known. The search then tries no other issuer of the leaf.
   */
  readonly issuer?: Certificate | undefined;
  /**
   * CAs between leaf and anchor, in any order. Certificates that do not belong to the path are
   * ignored.
   */
  readonly intermediates: readonly Certificate[];
  /** The trust anchors, in any order. */
  readonly anchors: readonly Certificate[];
  /** The time at which the path must be valid, in milliseconds since 1970. */
  readonly now: number;
  /** Limits the signatures that the search verifies. Default: one for this search alone. */
  readonly signatures?: SignatureBudget | undefined;
}

/** The limit of CAs between leaf and anchor. Real chains have one or two. */
const MAX_INTERMEDIATES = 8;

interface Search extends PathOptions {
  /** True if the leaf has no signature yet. Those of CAs are verified. */
  readonly isUnsigned: boolean;
  readonly signatures: SignatureBudget;
  /** The number of further signatures it may try, verified before or not. */
  triesLeft: number;
  /** The fault of each path that was tried. */
  readonly faults: Set<string>;
}

/**
 * Finds a valid path from the leaf to an anchor: RFC 5280 §6.1 without policies and revocation. As
 * in Go, an anchor must also be valid as a certificate: in time, a CA, within its constraints.
 *
 * @returns the path, leaf first, anchor last
 * @throws SignerError PATH_INVALID (`authority`) with the fault of each path that was tried
 */
export function verifyPath(input: PathOptions): readonly Certificate[] {
  return find({ ...input, ...newSearch(input), isUnsigned: false });
}

const NONE = new Uint8Array();

/**
 * Checks a leaf before it is signed: all that {@link verifyPath} checks, except its signature. A
 * leaf that no verifier would accept must not be signed.
 *
 * @throws SignerError PATH_INVALID (`authority`)
 */
export function requirePossiblePath(
  input: Omit<PathOptions, 'leaf'> & { readonly leaf: TbsCertificate },
): void {
  const leaf: Certificate = { ...input.leaf, raw: NONE, tbs: NONE, signature: NONE };
  find({
    ...input,
    leaf,
    ...newSearch(input),
    isUnsigned: true,
  });
}

function newSearch({
  signatures = new SignatureBudget(),
}: Pick<PathOptions, 'signatures'>): Pick<Search, 'signatures' | 'triesLeft' | 'faults'> {
  return { signatures, triesLeft: MAX_SIGNATURES, faults: new Set() };
}

function find(search: Search): readonly Certificate[] {
  const fault = ownFault(search.leaf, search.now);
  if (fault !== undefined) throw invalid([fault]);
  const path = extend(search, [search.leaf]);
  if (path === undefined) throw invalid([...search.faults]);
  return path;
}

/** Extends a path from its last certificate. Tries anchors before intermediates. */
function extend(search: Search, path: readonly Certificate[]): readonly Certificate[] | undefined {
  const child = path.at(-1);
  if (child === undefined) return undefined;
  const { anchors, others } = candidates(search, path, child);
  for (const anchor of anchors) {
    if (accepts(search, path, anchor)) return [...path, anchor];
  }
  if (others.length > 0 && path.length > MAX_INTERMEDIATES) {
    search.faults.add(`there are more than ${MAX_INTERMEDIATES} CAs between leaf and anchor`);
    return undefined;
  }
  for (const issuer of others) {
    const found = accepts(search, path, issuer) ? extend(search, [...path, issuer]) : undefined;
    if (found !== undefined) return found;
  }
  if (anchors.length + others.length === 0) {
    search.faults.add(`no anchor or intermediate issued ${shown(child)}`);
  }
  return undefined;
}

interface Candidates {
  readonly anchors: readonly Certificate[];
  readonly others: readonly Certificate[];
}

/** Returns the certificates that may come next. */
function candidates(
  { issuer, anchors, intermediates }: Search,
  path: readonly Certificate[],
  child: Certificate,
): Candidates {
  if (issuer === undefined || path.length > 1) {
    return {
      anchors: issuersOf(child, anchors),
      others: issuersOf(child, intermediates).filter((each) => !path.includes(each)),
    };
  }
  const anchor = sameIn(issuer, anchors);
  return anchor === undefined
    ? { anchors: [], others: [issuer] }
    : { anchors: [anchor], others: [] };
}

/**
 * Checks the signature first: constraints of a CA that did not sign this certificate cost nothing
 * more.
 */
function accepts(search: Search, path: readonly Certificate[], issuer: Certificate): boolean {
  const fault =
    ownFault(issuer, search.now) ??
    issuerFault(issuer, path) ??
    signatureFault(search, path, issuer) ??
    leafFault(issuer, path);
  if (fault !== undefined) search.faults.add(fault);
  return fault === undefined;
}

/** Returns the fault of any certificate by itself. */
function ownFault(certificate: Certificate, now: number): string | undefined {
  const problem = ownProblem(certificate, now);
  return problem === undefined ? undefined : `${shown(certificate)} ${problem}`;
}

function ownProblem(certificate: Certificate, now: number): string | undefined {
  if (now < certificate.notBefore) return 'is not valid yet';
  if (now > certificate.notAfter) return 'has expired';
  // Verifiers that process these constraints may reject the leaf. Go always does.
  if (certificate.nameConstraints?.hasOther === true) {
    return 'has name constraints of kinds that are not supported (only DNS, IP, URI, email)';
  }
  const [unknown] = certificate.unhandledCritical;
  if (unknown !== undefined) return `has the critical extension ${unknown}, which is not supported`;
  return certificate.requiresPolicy
    ? 'requires a certificate policy of each leaf (policyConstraints), which is not supported'
    : undefined;
}

/**
 * Returns why no path may contain a certificate as a CA with `below` CAs below it, or undefined.
 * Signatures are not verified.
 *
 * @param now - milliseconds since 1970
 */
export function caFault(
  certificate: Certificate,
  { below, now }: { readonly below: number; readonly now: number },
): string | undefined {
  return ownProblem(certificate, now) ?? issuerProblem(certificate, below);
}

/** The minimum for 112 bits of security (NIST SP 800-57 part 1). Go's limit is 1024 bits. */
const MIN_ISSUER_RSA_BITS = 2048;

/** Returns the fault of a certificate as the issuer of the last one of a path. */
function issuerFault(issuer: Certificate, path: readonly Certificate[]): string | undefined {
  const problem = issuerProblem(issuer, path.length - 1);
  return problem === undefined ? undefined : `${shown(issuer)} ${problem}`;
}

/** Returns the first restriction of an issuer that the certificates below it violate. */
function leafFault(issuer: Certificate, path: readonly Certificate[]): string | undefined {
  return purposeFault(issuer, path[0]) ?? violatedConstraint(issuer.nameConstraints, path);
}

/**
 * Returns the problem of a CA that has `below` CAs below it. RFC 5280 §4.2.1.9 does not count
 * self-issued CAs. Go counts them, and so does this: a leaf that Go rejects is useless.
 */
function issuerProblem(issuer: Certificate, below: number): string | undefined {
  const { keyUsage, pathLen, publicKey } = issuer;
  if (!issuer.isCa) return 'is not a CA';
  if (keyUsage !== undefined && !keyUsage.has('keyCertSign')) {
    return 'may not sign certificates (keyUsage)';
  }
  if (publicKey.algorithm === 'RSA' && publicKey.bits < MIN_ISSUER_RSA_BITS) {
    return `has an RSA key of ${publicKey.bits} bits, fewer than ${MIN_ISSUER_RSA_BITS}`;
  }
  if (pathLen === undefined || below <= pathLen) return undefined;
  return `allows ${pathLen} CAs below itself (pathLenConstraint), but there are ${below}`;
}

/**
 * Returns the fault of a purpose. The purposes of a CA limit those of every leaf below it: all
 * verifiers require that, although RFC 5280 does not.
 */
function purposeFault(issuer: Certificate, leaf: Certificate | undefined): string | undefined {
  const allowed = issuer.extKeyUsage;
  if (allowed === undefined || allowed.includes(OID_ANY_EXTENDED_KEY_USAGE)) return undefined;
  const purposes = leaf?.extKeyUsage ?? [OID_ANY_EXTENDED_KEY_USAGE];
  const missing = purposes.find((purpose) => !allowed.includes(purpose));
  if (missing === undefined) return undefined;
  return `${shown(issuer)} does not allow the purpose ${missing} (extKeyUsage)`;
}

function signatureFault(
  search: Search,
  path: readonly Certificate[],
  issuer: Certificate,
): string | undefined {
  const child = path.at(-1);
  if (child === undefined || (search.isUnsigned && path.length === 1)) return undefined;
  if (search.triesLeft === 0) return `more than ${MAX_SIGNATURES} signatures to try`;
  search.triesLeft -= 1;
  const isSigned = search.signatures.isSignedBy(child, issuer);
  if (isSigned === undefined) return `more than ${search.signatures.most} signatures to try`;
  return isSigned ? undefined : `the signature of ${shown(child)} is not by ${shown(issuer)}`;
}

/** The length of a name in a message, in UTF-16 units. */
const MAX_SHOWN_NAME = 100;

/** Returns a name of the certificate, for messages. */
function shown({ subject, sans }: Certificate): string {
  const names = [nameText(subject), sans.uris[0], sans.dnsNames[0], sans.ipAddresses[0]];
  return quote(names.find((name) => name !== undefined && name !== '') ?? '', MAX_SHOWN_NAME);
}

/**
 * Returns the error of the search. Its disposition is `authority`: another chain or other anchors
 * can make the path valid, so requests wait.
 */
function invalid(faults: readonly string[]): SignerError {
  return new SignerError({
    code: 'PATH_INVALID',
    disposition: 'authority',
    message: `no valid path to a trust anchor: ${faults.join('; ')}`,
  });
}
