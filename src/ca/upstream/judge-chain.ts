// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';
import { commonNamesOf } from '#pki/names/distinguished-name.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { isSignedBy } from '#pki/x509/issuers.ts';
import { requirePossiblePath } from '#pki/x509/path.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import { anchorOf, readChain, rootOf, type CaPath } from './read-chain.ts';
import * as refusals from './refusals.ts';
import type { ChainRefusal } from './refusals.ts';
import type { WantedCa } from './wanted-ca.ts';

/** A chain that passed every check. */
export interface AcceptedChain {
  readonly path: CaPath;
  readonly anchor: Certificate;
}

export interface JudgeInput {
  /** PEM. */
  readonly chain: string;
  /** The request for the key that waits. */
  readonly request: Pick<CertificationRequest, 'publicKey' | 'subject'>;
  readonly wanted: WantedCa;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Checks a chain that an upstream CA returned. A certificate that passes can sign leaves that
 * verifiers accept with the anchor alone, until the end of the CA.
 */
export function judgeChain({
  chain,
  request,
  wanted,
  now,
}: JudgeInput): AcceptedChain | ChainRefusal {
  const path = readChain(chain);
  if ('reason' in path) return path;
  const anchor = anchorOf(path, wanted.trust.anchor);
  return (
    identityFault(path, request) ??
    caFault(path, wanted) ??
    rootFault(path, wanted) ??
    timeFault(path, wanted, now) ??
    signatureFault(path) ??
    pathLengthFault(path, wanted) ??
    constraintFault(path, wanted, now) ??
    anchorFault(anchor, path, wanted) ?? { path, anchor }
  );
}

export function isRefusal(judged: AcceptedChain | ChainRefusal): judged is ChainRefusal {
  return 'reason' in judged;
}

/** Compares the key and the name with those of the request. */
function identityFault(
  [certificate]: CaPath,
  request: Pick<CertificationRequest, 'publicKey' | 'subject'>,
): ChainRefusal | undefined {
  if (!sameBytes(certificate.publicKey.spki, request.publicKey.spki)) {
    return refusals.keyMismatch(certificate);
  }
  const names = commonNamesOf(request.subject);
  const found = commonNamesOf(certificate.subject);
  if (found.length === 1 && found[0] === names[0]) return undefined;
  return refusals.subjectMismatch(certificate, names[0] ?? '');
}

/** Checks that each certificate is a CA with a strong key, and that the first may do its work. */
function caFault(path: CaPath, { signsCrls }: WantedCa): ChainRefusal | undefined {
  for (const each of path) {
    const { isCa, keyUsage, publicKey } = each;
    if (!isCa) return refusals.notACa(each, 'is not a CA (basicConstraints lacks CA:TRUE)');
    if (keyUsage !== undefined && !keyUsage.has('keyCertSign')) {
      return refusals.notACa(each, 'may not sign certificates (keyUsage lacks keyCertSign)');
    }
    const weak = attempt(() => {
      checkKey(publicKey);
    });
    if (weak instanceof SignerError) return refusals.notACa(each, `is unusable: ${weak.message}`);
  }
  const [certificate] = path;
  if (certificate.subjectKeyIdentifier === undefined) {
    return refusals.notACa(certificate, 'has no subjectKeyIdentifier (RFC 5280 §4.2.1.2)');
  }
  const { keyUsage } = certificate;
  if (!signsCrls || keyUsage === undefined || keyUsage.has('cRLSign')) return undefined;
  return refusals.notACa(
    certificate,
    'may not sign CRLs, as profile.crl needs (keyUsage lacks cRLSign)',
  );
}

/** Compares the root with the fingerprint that the user got from another source. */
function rootFault(path: CaPath, { trust }: WantedCa): ChainRefusal | undefined {
  const found = fingerprint(rootOf(path).raw);
  const { rootFingerprint = 'absent' } = trust;
  return found === rootFingerprint ? undefined : refusals.rootMismatch(found, rootFingerprint);
}

/** Checks that all are valid now, none outlives its issuer, and the CA lives long enough. */
function timeFault(path: CaPath, { minSeconds }: WantedCa, now: number): ChainRefusal | undefined {
  const late = path.find(({ notAfter }) => now >= notAfter);
  if (late !== undefined) return refusals.expired(late);
  const early = path.find(({ notBefore }) => now < notBefore);
  if (early !== undefined) return refusals.notYetValid(early);
  for (const [index, certificate] of path.entries()) {
    const issuer = path[index + 1];
    // Rotation plans by the end of the CA, and no leaf may outlive a certificate of its path.
    if (issuer !== undefined && certificate.notAfter > issuer.notAfter) {
      return refusals.outlivesIssuer(certificate, issuer);
    }
  }
  const [certificate] = path;
  const least = now + minSeconds * 1000;
  return certificate.notAfter < least ? refusals.lifetimeTooShort(certificate, least) : undefined;
}

/** Checks that each certificate is signed by the next one, and the root by itself. */
function signatureFault(path: CaPath): ChainRefusal | undefined {
  for (const [index, certificate] of path.entries()) {
    const issuer = path[index + 1] ?? certificate;
    const [child, parent] = [refusals.shown(certificate), refusals.shown(issuer)];
    if (!sameBytes(certificate.issuer.raw, issuer.subject.raw)) {
      return refusals.pathInvalid(`${child} names another issuer than ${parent}, which follows it`);
    }
    if (!isSignedBy(certificate, issuer)) {
      return refusals.pathInvalid(`the signature of ${child} is not by ${parent}`);
    }
  }
  return undefined;
}

/** Checks the path length of each CA. A CA that cross-signs has one more CA below it. */
function pathLengthFault(path: CaPath, { crossSigned }: WantedCa): ChainRefusal | undefined {
  for (const [index, certificate] of path.entries()) {
    const below = index + (crossSigned ? 1 : 0);
    if (certificate.pathLen !== undefined && certificate.pathLen < below) {
      return refusals.pathLengthExceeded(certificate, below, crossSigned);
    }
  }
  return undefined;
}

/**
 * Checks a leaf that does not exist, with the purposes and names of the profile, on the whole path
 * to the root. Verifiers may build that path whichever certificate is the anchor.
 */
function constraintFault(path: CaPath, wanted: WantedCa, now: number): ChainRefusal | undefined {
  const [certificate, ...issuers] = path;
  const leaf = {
    ...certificate,
    isCa: false,
    pathLen: undefined,
    sans: { ...certificate.sans, ...wanted.names },
    extKeyUsage: wanted.purposes.length === 0 ? undefined : wanted.purposes,
    nameConstraints: undefined,
    unhandledCritical: [],
    requiresPolicy: false,
  };
  const found = attempt(() => {
    const root = rootOf(path);
    const intermediates = issuers.slice(0, -1);
    requirePossiblePath({ leaf, issuer: certificate, intermediates, anchors: [root], now });
  });
  return found instanceof SignerError ? refusals.constraintsExclude(found.message) : undefined;
}

/** Checks trust in the anchor, and the consent to all that it makes verifiers accept. */
function anchorFault(
  anchor: Certificate,
  path: CaPath,
  wanted: WantedCa,
): ChainRefusal | undefined {
  const print = fingerprint(anchor.raw);
  if (wanted.isDistrusted(print)) return refusals.anchorDistrusted(print);
  const isOwn = anchor === path[0];
  return isOwn || wanted.trust.trustEverythingBelow ? undefined : refusals.consentMissing(anchor);
}
