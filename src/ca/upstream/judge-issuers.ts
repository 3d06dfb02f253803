// SPDX-License-Identifier: Apache-2.0
/** Checks the issuers of an upstream CA before it signs, so that it signs no CA in vain. */
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import * as refusals from './refusals.ts';
import type { ChainRefusal } from './refusals.ts';
import type { WantedCa } from './wanted-ca.ts';

/**
 * Checks the certificates that would follow the managed CA in its chain, in order, the root last.
 * `judgeChain` makes the same checks of the whole chain, and more.
 *
 * @returns the end of the first issuer to expire, in milliseconds, or the first reason to refuse
 */
export function judgeIssuers(
  issuers: readonly [Certificate, ...Certificate[]],
  wanted: WantedCa,
  now: number,
): number | ChainRefusal {
  const ends = issuers.map(({ notAfter }) => notAfter);
  return (
    rootFault(issuers, wanted) ??
    timeFault(issuers, wanted, now) ??
    pathLengthFault(issuers, wanted) ??
    anchorFault(issuers, wanted) ??
    Math.min(...ends)
  );
}

function rootOf([issuer, ...more]: readonly [Certificate, ...Certificate[]]): Certificate {
  return more.at(-1) ?? issuer;
}

function rootFault(
  issuers: readonly [Certificate, ...Certificate[]],
  { trust }: WantedCa,
): ChainRefusal | undefined {
  const root = rootOf(issuers);
  if (!isSelfSigned(root)) return refusals.rootMissing(root);
  const [found, wanted = 'absent'] = [fingerprint(root.raw), trust.rootFingerprint];
  return found === wanted ? undefined : refusals.rootMismatch(found, wanted);
}

function timeFault(
  issuers: readonly Certificate[],
  { minSeconds }: WantedCa,
  now: number,
): ChainRefusal | undefined {
  const late = issuers.find(({ notAfter }) => now >= notAfter);
  if (late !== undefined) return refusals.expired(late);
  const early = issuers.find(({ notBefore }) => now < notBefore);
  if (early !== undefined) return refusals.notYetValid(early);
  const least = now + minSeconds * 1000;
  const short = issuers.find(({ notAfter }) => notAfter < least);
  return short === undefined ? undefined : refusals.lifetimeTooShort(short, least);
}

function pathLengthFault(
  issuers: readonly Certificate[],
  { crossSigned }: WantedCa,
): ChainRefusal | undefined {
  for (const [index, certificate] of issuers.entries()) {
    const below = index + 1 + (crossSigned ? 1 : 0);
    if (certificate.pathLen !== undefined && certificate.pathLen < below) {
      return refusals.pathLengthExceeded(certificate, below, crossSigned);
    }
  }
  return undefined;
}

function anchorFault(
  issuers: readonly [Certificate, ...Certificate[]],
  { trust, isDistrusted }: WantedCa,
): ChainRefusal | undefined {
  if (trust.anchor === 'Authority') return undefined;
  const anchor = trust.anchor === 'Issuer' ? issuers[0] : rootOf(issuers);
  const print = fingerprint(anchor.raw);
  if (isDistrusted(print)) return refusals.anchorDistrusted(print);
  return trust.trustEverythingBelow ? undefined : refusals.consentMissing(anchor);
}
