// SPDX-License-Identifier: Apache-2.0
/** Decides whether a key holder signs the bytes that a component sent. */
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { decodeTbs, type TbsCertificate } from '#pki/x509/certificate.ts';
import { decodeTbsList, type TbsCertificateList } from '#pki/x509/certificate-list.ts';
import { LEAF_RULES } from '../issuance/lint/index.ts';
import type { SigningCa } from '../issuance/signing-ca.ts';
import type { CrlLimits, LeafLimits } from './configuration.ts';
import { HOLDER_RULES } from './leaf-rules.ts';
import { MAX_CRL_BYTES, MAX_LEAF_BYTES, type SigningRefusal } from './protocol.ts';

/** A document that may be signed, or why not. */
export type HolderDecision<T> =
  { readonly document: T; readonly refusal?: undefined } | { readonly refusal: SigningRefusal };

/** Inputs of the judgement of a leaf. */
export interface LeafInput {
  /** DER TBSCertificate. */
  readonly tbs: Uint8Array;
  /** The CA of the key. */
  readonly ca: SigningCa;
  readonly limits: LeafLimits;
  /** Milliseconds since 1970, by the holder's clock. */
  readonly now: number;
}

/** Inputs of the judgement of a CRL. */
export interface CrlInput {
  /** DER TBSCertList. */
  readonly tbs: Uint8Array;
  readonly ca: SigningCa;
  readonly limits: CrlLimits;
  /** The number of the last CRL that the holder signed with this key. */
  readonly lastNumber: bigint | undefined;
  readonly now: number;
}

/**
 * Judges a TBSCertificate. Nothing but a leaf of the key's own CA within the limits passes: each
 * part of it is decoded strictly, and is among those that our own encoder writes.
 */
export function judgeLeaf({ tbs, ca, ...context }: LeafInput): HolderDecision<TbsCertificate> {
  const leaf = decoded(tbs, MAX_LEAF_BYTES, decodeTbs);
  if ('refusal' in leaf) return leaf;
  return judged(leaf.document, [
    ...LEAF_RULES.map(({ name, check }) => [name, check(leaf.document, ca)] as const),
    ...HOLDER_RULES.map(({ name, check }) => [name, check(leaf.document, context, tbs)] as const),
  ]);
}

/**
 * Judges a TBSCertList: a full CRL of the key's own CA, whose number is higher than the last one.
 */
export function judgeCrl(input: CrlInput): HolderDecision<TbsCertificateList> {
  const list = decoded(input.tbs, MAX_CRL_BYTES, decodeTbsList);
  return 'refusal' in list ? list : judged(list.document, crlRules(list.document, input));
}

function crlRules(
  list: TbsCertificateList,
  { ca, limits, lastNumber, now }: CrlInput,
): readonly (readonly [name: string, problem: string | undefined])[] {
  const { thisUpdate, nextUpdate, number } = list;
  const seconds = (nextUpdate - thisUpdate) / 1000;
  const when = (isBroken: boolean, problem: string): string | undefined =>
    isBroken ? problem : undefined;
  return [
    [
      'algorithm-agrees',
      when(
        !sameBytes(list.signatureAlgorithm, ca.signatureAlgorithm),
        'the inner signature algorithm is not the one that the CA signs with',
      ),
    ],
    [
      'issuer-name-matches',
      when(!sameBytes(list.issuer.raw, ca.subject), 'the issuer name is not the CA’s subject'),
    ],
    [
      'key-identifiers',
      when(
        !sameBytes(list.authorityKeyIdentifier, ca.keyIdentifier),
        'the authority key identifier is not the CA’s subject key identifier',
      ),
    ],
    [
      'longest-life',
      when(
        seconds > limits.maxValidity,
        `nextUpdate is ${seconds} s after thisUpdate, and the limit is ${limits.maxValidity} s`,
      ),
    ],
    [
      'earliest-start',
      when(
        thisUpdate < now - limits.maxBackdate * 1000,
        `thisUpdate is more than ${limits.maxBackdate} s in the past`,
      ),
    ],
    [
      'latest-start',
      when(
        thisUpdate > now + limits.maxPostdate * 1000,
        `thisUpdate is more than ${limits.maxPostdate} s in the future`,
      ),
    ],
    [
      'higher-number',
      when(
        lastNumber !== undefined && number <= lastNumber,
        `its CRL number is ${number}, which does not exceed the previous ${lastNumber ?? 0n}`,
      ),
    ],
    // A compromised component could otherwise use up the numbers of a CA (RFC 5280 §5.2.3).
    [
      'number-within-clock',
      when(
        number > highestNumber(lastNumber, now + limits.maxPostdate * 1000),
        `its CRL number is ${number}, more than the seconds since 1970 and than the next number`,
      ),
    ],
  ];
}

/** Returns the highest number that may come next: the seconds since 1970, or one more. */
function highestNumber(lastNumber: bigint | undefined, until: number): bigint {
  const [seconds, next] = [BigInt(Math.floor(until / 1000)), (lastNumber ?? 0n) + 1n];
  return next > seconds ? next : seconds;
}

/** Decodes a document within a limit. The reason of a fault is the decoder's code. */
function decoded<T>(
  tbs: Uint8Array,
  maxBytes: number,
  decode: (der: Uint8Array) => T,
): HolderDecision<T> {
  if (tbs.length > maxBytes) {
    return refused('too-large', `it has ${tbs.length} bytes, more than ${maxBytes}`);
  }
  const document = attempt(() => decode(tbs));
  if (!(document instanceof SignerError)) return { document };
  return refused(document.code.toLowerCase().replaceAll('_', '-'), document.message);
}

function judged<T>(
  document: T,
  results: readonly (readonly [name: string, problem: string | undefined])[],
): HolderDecision<T> {
  const broken = results.filter(([, problem]) => problem !== undefined);
  const [first] = broken;
  if (first === undefined) return { document };
  return refused(first[0], broken.map(([name, problem]) => `${name}: ${problem ?? ''}`).join('; '));
}

function refused(reason: string, message: string): { readonly refusal: SigningRefusal } {
  return { refusal: { reason, message } };
}
