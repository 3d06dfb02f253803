// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { type Certificate, readCertificates } from '#pki/x509/certificate.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import type { PublicKeyInfo } from '#pki/keys/public-key.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { unexpectedExtension } from '#pki/x509/unexpected-extension.ts';
import { requestedNames, unsupportedParts } from '#pki/x509/requested-names.ts';
import { usageBits } from '#pki/extensions/usages.ts';
import { KEY_USAGES, type KeyUsage, type LeafSubject, REQUEST_FIELDS } from '#base/vocabulary.ts';
import type { Validity } from './validity.ts';

/** A chain that an external CA returned, and the request for it. */
export interface ReturnedChain {
  /** PEM: the leaf first, then its issuers in any order, with or without the root. */
  readonly chain: string;
  /**
   * The first certificate of `chain`, if this process prepared and linted it for this subject, key
   * and usages. They are then not compared again.
   */
  readonly prepared?: Certificate | undefined;
  readonly subject: LeafSubject;
  readonly publicKey: PublicKeyInfo;
  readonly usages: readonly KeyUsage[];
  /** The requested validity. The leaf must not last longer. */
  readonly validity: Validity;
  /** The leaf must last at least this long. */
  readonly minimumSeconds: number;
  /** The trust anchors. If undefined, the last certificate of the chain is the anchor. */
  readonly anchors: readonly Certificate[] | undefined;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: number;
  /** OIDs of extensions that the leaf may have besides those of {@link unexpectedExtension}. */
  readonly allowedExtensions?: readonly string[] | undefined;
  /**
   * Decodes the certificates above the leaf. They are the same for every leaf, so callers cache
   * them.
   */
  readonly readAbove?: (pem: string) => readonly Certificate[];
}

/** A chain that corresponds to the request and leads to an anchor. */
export interface VerifiedChain {
  /** Leaf first, then its issuers upwards, without the anchor. */
  readonly chain: readonly [Certificate, ...Certificate[]];
  readonly anchor: Certificate;
}

/** The longest chain. A longer one is a mistake of the CA. */
const MAX_CERTIFICATES = 10;
/** Limit of `status.certificateChain` (certificates.k8s.io, MaxCertificateChainSize). */
const MAX_CHAIN_CHARACTERS = 100 * 1024;
/** The tolerance of `status.notBefore` around the API server's time (validation.go, timeNear). */
const MAX_NOT_BEFORE_OFF_MS = 5 * 60_000;

/**
 * Verifies what an external CA returned before it is written to a status: the requested key and
 * names, no other usage, no longer validity, and a path to an anchor (RFC 5280 §6). The API server
 * checks only some of this and the kubelet none of it, and a status cannot be corrected afterwards.
 *
 * @throws SignerError CORRESPONDENCE or PATH_INVALID (`authority`) with the difference
 */
export function verifyReturnedChain(input: ReturnedChain): VerifiedChain {
  if (input.chain.length > MAX_CHAIN_CHARACTERS) {
    throw mismatchError(
      `a chain of ${input.chain.length} characters; the limit is ${MAX_CHAIN_CHARACTERS}`,
    );
  }
  const [leaf, ...above] = readChain(input);
  const mismatch = findLeafMismatch(leaf, input);
  if (mismatch !== undefined) throw mismatchError(mismatch);
  const last = above.at(-1);
  const anchors = input.anchors ?? (last === undefined ? [] : [last]);
  if (anchors.length === 0) {
    throw mismatchError(
      'a leaf certificate without its issuers; return the issuers or the trust anchors as well',
    );
  }
  const path = verifyPath({ leaf, intermediates: above, anchors, now: input.now });
  const anchor = path.at(-1) ?? leaf;
  const between = path.slice(1, -1);
  // Without configured anchors, no other place publishes this one. It stays in the chain, unless it
  // is a root.
  const ending = input.anchors === undefined && !isSelfSigned(anchor) ? [anchor] : [];
  return { chain: [leaf, ...between, ...ending], anchor };
}

const END = '-----END CERTIFICATE-----';

function readChain({
  chain: pem,
  prepared,
  readAbove = readCertificates,
}: ReturnedChain): readonly [Certificate, ...Certificate[]] {
  const at = pem.indexOf(END);
  const end = at === -1 ? pem.length : at + END.length;
  const read = attempt(() => [
    ...(prepared === undefined ? readCertificates(pem.slice(0, end)) : [prepared]),
    ...readAbove(blocksOf(pem.slice(end))),
  ]);
  if (read instanceof SignerError)
    throw mismatchError(`a chain that cannot be read: ${read.message}`, read);
  const [leaf, ...above] = read;
  if (leaf === undefined) throw mismatchError('no certificate');
  if (read.length > MAX_CERTIFICATES) {
    throw mismatchError(`${read.length} certificates; the limit is ${MAX_CERTIFICATES}`);
  }
  return [leaf, ...above];
}

/** Returns the text after the leaf, or '' if it has no block. Other text belongs to no chain. */
function blocksOf(rest: string): string {
  return rest.includes('-----') ? rest.trimStart() : '';
}

function findLeafMismatch(leaf: Certificate, input: ReturnedChain): string | undefined {
  if (!sameBytes(leaf.publicKey.spki, input.publicKey.spki)) {
    return 'a certificate for another public key';
  }
  if (leaf.isCa) return 'a CA certificate';
  const isPrepared = input.prepared === leaf;
  const mismatch = isPrepared
    ? undefined
    : (findNameMismatch(leaf, input.subject) ??
      findUsageMismatch(leaf, input) ??
      findExtensionMismatch(leaf, input));
  return mismatch ?? findTimeMismatch(leaf, input);
}

function findNameMismatch(leaf: Certificate, wanted: LeafSubject): string | undefined {
  const [more] = unsupportedParts(leaf);
  if (more !== undefined) return `a certificate with ${more}, which was not requested`;
  const named = attempt(() => requestedNames(leaf));
  if (named instanceof SignerError) return `a certificate with an invalid name: ${named.message}`;
  const other = REQUEST_FIELDS.find((field) => textOf(named[field]) !== textOf(wanted[field]));
  if (other === undefined) return undefined;
  return `a certificate whose ${other} is ${textOf(named[other])}; requested was ${textOf(wanted[other])}`;
}

/** Formats names as a set, because their order has no meaning. */
function textOf(names: string | readonly string[]): string {
  return JSON.stringify(typeof names === 'string' ? names : [...new Set(names)].sort());
}

function findUsageMismatch(leaf: Certificate, { usages }: ReturnedChain): string | undefined {
  const allowed = usageBits(usages);
  const bits = [...(leaf.keyUsage ?? [])];
  const bit = bits.find((each) => !allowed.keyUsage.includes(each));
  if (bit !== undefined) return `a certificate with the key usage ${bit}, which is not allowed`;
  const purpose = (leaf.extKeyUsage ?? []).find((each) => !allowed.extKeyUsage.includes(each));
  if (purpose !== undefined)
    return `a certificate for ${purposeText(purpose)}, which is not allowed`;
  // A certificate without the extension may be used for everything (RFC 5280 §4.2.1.3, §4.2.1.12).
  if (leaf.keyUsage === undefined && allowed.keyUsage.length > 0) {
    return 'a certificate without the keyUsage extension, which permits every key usage';
  }
  return leaf.extKeyUsage === undefined && allowed.extKeyUsage.length > 0
    ? 'a certificate without the extendedKeyUsage extension, which permits every purpose'
    : undefined;
}

/**
 * Finds an unrequested extension. If a CA copies extensions of the request, the requester could
 * write an identity that no check compares, such as Microsoft's security identifier
 * (1.3.6.1.4.1.311.25.2).
 */
function findExtensionMismatch(
  leaf: Certificate,
  { allowedExtensions = [] }: ReturnedChain,
): string | undefined {
  const more = unexpectedExtension(leaf, allowedExtensions);
  return more === undefined
    ? undefined
    : `a certificate with the extension ${more}, which was not requested; a CA that always adds it needs allowedExtensions`;
}

/** Returns the name of a purpose in the Kubernetes API, or its OID. */
function purposeText(oid: string): string {
  const usage = KEY_USAGES.find((each) => usageBits([each]).extKeyUsage.includes(oid));
  return usage === undefined ? oid : `"${usage}"`;
}

function findTimeMismatch(leaf: Certificate, input: ReturnedChain): string | undefined {
  const seconds = (leaf.notAfter - leaf.notBefore) / 1000;
  const most = (input.validity.notAfter - input.validity.notBefore) / 1000;
  if (seconds > most)
    return `a certificate that is valid for ${seconds} s; at most ${most} s was requested`;
  if (seconds < input.minimumSeconds) {
    return `a certificate that is valid for ${seconds} s; at least ${input.minimumSeconds} s was requested`;
  }
  if (Math.abs(leaf.notBefore - input.now) <= MAX_NOT_BEFORE_OFF_MS) return undefined;
  return `a certificate whose notBefore is ${Math.round((leaf.notBefore - input.now) / 1000)} s from the current time; the API accepts at most ${MAX_NOT_BEFORE_OFF_MS / 1000} s`;
}

function mismatchError(what: string, cause?: SignerError): SignerError {
  return new SignerError({
    code: 'CORRESPONDENCE',
    disposition: 'authority',
    message: `the CA returned ${what}`,
    cause,
  });
}
