// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '../bytes.ts';
import { SignerError, attempt } from '../errors.ts';
import { type Certificate, readCertificates, isSelfIssued } from '../pki/x509/certificate.ts';
import type { PublicKeyInfo } from '../pki/keys/public-key.ts';
import { verifyPath } from '../pki/x509/path.ts';
import { requestedNames, unsupportedParts } from '../pki/x509/requested-names.ts';
import { usageBits } from '../pki/extensions/usages.ts';
import { KEY_USAGES, type KeyUsage, type LeafSubject, REQUEST_FIELDS } from '../vocabulary.ts';
import type { Validity } from './validity.ts';

export interface ReturnedChain {
  /** PEM, leaf first; what is above it in any order, with the root or without. */
  readonly chain: string;
  /**
   * The first certificate of `chain`, where it is ours: prepared and linted for this very subject, key and
   * usages, which are not compared again.
   */
  readonly prepared?: Certificate | undefined;
  readonly subject: LeafSubject;
  readonly publicKey: PublicKeyInfo;
  readonly usages: readonly KeyUsage[];
  /** What was asked for: no leaf lasts longer. */
  readonly validity: Validity;
  /** Nor shorter than this. */
  readonly minimumSeconds: number;
  /** Where they must lead; undefined: to whatever the chain itself ends in. */
  readonly anchors: readonly Certificate[] | undefined;
  readonly now: number;
  /**
   * Reads the certificates above the leaf. The same few come with every leaf: whoever remembers them
   * saves their decoding, and their keys'.
   */
  readonly readAbove?: (pem: string) => readonly Certificate[];
}

export interface VerifiedChain {
  /** Leaf first, its issuers upwards, without the anchor. */
  readonly chain: readonly [Certificate, ...Certificate[]];
  readonly anchor: Certificate;
}

/** More than this above a leaf is a mistake. */
const MAX_CERTIFICATES = 10;
/** `status.certificateChain` takes no more (certificates.k8s.io, MaxCertificateChainSize). */
const MAX_CHAIN_CHARACTERS = 100 * 1024;
/** `status.notBefore` may be so far from the API server's time (validation.go, timeNear). */
const MAX_NOT_BEFORE_OFF_MS = 5 * 60_000;

/**
 * What a CA that is not ours returned, held to what was asked of it: the very key and names, no usage
 * and no second more, a chain that leads to an anchor. The API server asks for some of that only, a
 * kubelet for nothing; what is wrong here would be served for ever.
 *
 * @throws SignerError CORRESPONDENCE or PATH_INVALID (`authority`), saying what differs
 */
export function verifyReturnedChain(input: ReturnedChain): VerifiedChain {
  if (input.chain.length > MAX_CHAIN_CHARACTERS) {
    throw mismatchError(
      `a chain of ${input.chain.length} characters, more than ${MAX_CHAIN_CHARACTERS}`,
    );
  }
  const [leaf, ...above] = readChain(input);
  const fault = findLeafMismatch(leaf, input);
  if (fault !== undefined) throw mismatchError(fault);
  const last = above.at(-1);
  const anchors = input.anchors ?? (last === undefined ? [] : [last]);
  if (anchors.length === 0) {
    throw mismatchError('a leaf alone; return its issuers too, or the anchors that it leads to');
  }
  const path = verifyPath({ leaf, intermediates: above, anchors, now: input.now });
  const anchor = path.at(-1) ?? leaf;
  const between = path.slice(1, -1);
  // An anchor that nobody else publishes is delivered, unless it is a root.
  const ending = input.anchors === undefined && !isSelfIssued(anchor) ? [anchor] : [];
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
    ...readAbove(pem.slice(end).trimStart()),
  ]);
  if (read instanceof SignerError)
    throw mismatchError(`what cannot be read: ${read.message}`, read);
  const [leaf, ...above] = read;
  if (leaf === undefined) throw mismatchError('no certificate');
  if (read.length > MAX_CERTIFICATES) {
    throw mismatchError(`${read.length} certificates, more than ${MAX_CERTIFICATES}`);
  }
  return [leaf, ...above];
}

function findLeafMismatch(leaf: Certificate, input: ReturnedChain): string | undefined {
  if (!sameBytes(leaf.publicKey.spki, input.publicKey.spki)) {
    return 'a certificate of another public key';
  }
  if (leaf.isCa) return 'a CA certificate';
  const asked = input.prepared === leaf;
  const fault = asked
    ? undefined
    : (findNameMismatch(leaf, input.subject) ?? findUsageMismatch(leaf, input));
  return fault ?? findTimeMismatch(leaf, input);
}

function findNameMismatch(leaf: Certificate, wanted: LeafSubject): string | undefined {
  const [more] = unsupportedParts(leaf);
  if (more !== undefined) return `a certificate with ${more}, which nobody asked for`;
  const named = attempt(() => requestedNames(leaf));
  if (named instanceof SignerError)
    return `a certificate whose names cannot be used: ${named.message}`;
  const other = REQUEST_FIELDS.find((field) => textOf(named[field]) !== textOf(wanted[field]));
  if (other === undefined) return undefined;
  return `a certificate whose ${other} is ${textOf(named[other])}, where ${textOf(wanted[other])} was asked for`;
}

/** As a set: no verifier minds the order. */
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
  // What does not say so is for every use.
  if (leaf.keyUsage === undefined && allowed.keyUsage.length > 0) {
    return 'a certificate without key usages, which means all';
  }
  return leaf.extKeyUsage === undefined && allowed.extKeyUsage.length > 0
    ? 'a certificate without extended key usages, which means all'
    : undefined;
}

/** Its name in the API, where it has one. */
function purposeText(oid: string): string {
  const usage = KEY_USAGES.find((each) => usageBits([each]).extKeyUsage.includes(oid));
  return usage === undefined ? oid : `"${usage}"`;
}

function findTimeMismatch(leaf: Certificate, input: ReturnedChain): string | undefined {
  const seconds = (leaf.notAfter - leaf.notBefore) / 1000;
  const most = (input.validity.notAfter - input.validity.notBefore) / 1000;
  if (seconds > most) return `a certificate for ${seconds} s, where ${most} s was the most`;
  if (seconds < input.minimumSeconds) {
    return `a certificate for ${seconds} s, where ${input.minimumSeconds} s was the least`;
  }
  if (Math.abs(leaf.notBefore - input.now) <= MAX_NOT_BEFORE_OFF_MS) return undefined;
  return `a certificate whose notBefore is ${Math.round((leaf.notBefore - input.now) / 1000)} s from now`;
}

function mismatchError(what: string, cause?: SignerError): SignerError {
  return new SignerError({
    code: 'CORRESPONDENCE',
    disposition: 'authority',
    message: `the CA returned ${what}`,
    cause,
  });
}
