// SPDX-License-Identifier: Apache-2.0
/** The certificate of another cluster's CA, the only CA that the components sign for others. */
import { MIN_INTERMEDIATE_LIFETIMES } from '#api/signer/cluster-signer-limits.ts';
import { SignerError } from '#base/errors.ts';
import type { Random } from '#base/ports.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  crlDistributionPoints,
  keyUsage,
  nameConstraints,
  subjectAltName,
  subjectKeyIdentifier,
} from '#pki/extensions/encode-extensions.ts';
import { usageBits } from '#pki/extensions/usages.ts';
import type { PublicKeyInfo } from '#pki/keys/public-key.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { encodeTbs } from '#pki/x509/encode-certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { CA_BACKDATE_SECONDS } from './ca-certificate.ts';
import type { CaChain } from './prepare.ts';
import { type SigningCa, newSerial } from './signing-ca.ts';
import { leafValidity, type Validity } from './validity.ts';

/** The decided contents of the CA certificate of another cluster. It has nothing else. */
export interface IntermediateContents {
  readonly cluster: string;
  readonly commonName: string;
  readonly publicKey: PublicKeyInfo;
  /** `cert sign`, and `crl sign` if it signs CRLs. */
  readonly usages: readonly string[];
  readonly trustDomain: string;
  readonly isUriConstrained: boolean;
  readonly dnsConstraints: readonly string[];
  readonly validity: Validity;
}

export interface IntermediateTbsInput extends IntermediateContents {
  readonly issuer: SigningCa;
  readonly crlUrls?: readonly string[];
  readonly random: Random;
}

/** Returns the URI of a trust domain, which SPIFFE puts into the certificates of its CAs. */
export function trustDomainUri(trustDomain: string): string {
  return `spiffe://${trustDomain}`;
}

/** Encodes the TBSCertificate (DER). `prepareIntermediate` lints it before it can be signed. */
export function encodeIntermediateTbs(input: IntermediateTbsInput): Uint8Array {
  const { issuer, publicKey, validity, crlUrls = [] } = input;
  const uris = [trustDomainUri(input.trustDomain)];
  const permitted = [
    ...(input.isUriConstrained ? [{ kind: 'uri', text: input.trustDomain } as const] : []),
    ...input.dnsConstraints.map((text) => ({ kind: 'dns', text }) as const),
  ];
  return encodeTbs({
    serial: newSerial(input.random),
    signatureAlgorithm: issuer.signatureAlgorithm,
    issuer: issuer.subject,
    notBefore: validity.notBefore,
    notAfter: validity.notAfter,
    subject: encodeName({
      organizations: [input.cluster],
      organizationalUnits: [],
      commonName: input.commonName,
    }),
    spki: publicKey.spki,
    extensions: [
      keyUsage(usageBits(input.usages).keyUsage),
      // The only path length of an intermediate: it certifies leaves.
      basicConstraints({ ca: true, pathLen: 0 }),
      subjectKeyIdentifier(publicKey.spki),
      authorityKeyIdentifier(issuer.keyIdentifier),
      subjectAltName({ uris, dnsNames: [], ipAddresses: [], emails: [] }, false),
      ...(permitted.length === 0 ? [] : [nameConstraints({ permitted, excluded: [] })]),
      ...(crlUrls.length === 0 ? [] : [crlDistributionPoints(crlUrls)]),
    ],
  });
}

/** Minimum of `spec.expirationSeconds` (certificates.k8s.io/v1, validation.go): ten minutes. */
const MIN_SECONDS = 600;

export interface IntermediateValidityInput {
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
  readonly requestedSeconds: number | undefined;
  /** `spec.profile.maxDuration`. */
  readonly maxSeconds: number;
  /** The validity of the CA that signs. */
  readonly issuer: Validity;
}

/** Returns the longest life of an intermediate below an issuer, in seconds. */
export function longestIntermediate(maxSeconds: number, issuer: Validity): number {
  const whole = (issuer.notAfter - issuer.notBefore) / 1000;
  return Math.min(maxSeconds, Math.floor(whole / MIN_INTERMEDIATE_LIFETIMES));
}

/**
 * Returns the validity of an intermediate: as long as requested, no longer than the profile and a
 * sixth of its issuer's life allow, and never beyond its issuer. No leaf has a longer
 * backdate.
 *
 * @throws SignerError VALIDITY_IMPOSSIBLE (`authority`)
 */
export function intermediateValidity(input: IntermediateValidityInput): Validity {
  const { now, requestedSeconds, maxSeconds, issuer } = input;
  const longest = longestIntermediate(maxSeconds, issuer);
  return leafValidity({
    now,
    lifetimeSeconds: Math.min(requestedSeconds ?? longest, longest),
    backdateSeconds: CA_BACKDATE_SECONDS,
    minimumSeconds: Math.min(MIN_SECONDS, longest),
    issuer,
  });
}

/**
 * Checks that every CA above an intermediate permits a CA below itself and leaves below that. A
 * path to the intermediate alone does not show it: RFC 5280 §6.1 does not count the last
 * certificate of a path.
 *
 * @throws SignerError PATH_INVALID (`authority`)
 */
export function requireCertifiesCas(chain: CaChain, now: number): void {
  const { certificate, intermediates, anchors } = chain;
  const own = fingerprint(certificate.raw);
  const isAnchor = anchors.some(({ raw }) => fingerprint(raw) === own);
  const path = isAnchor
    ? [certificate]
    : verifyPath({ leaf: certificate, intermediates, anchors, now });
  for (const [below, { pathLen }] of path.entries()) {
    if (pathLen === undefined || pathLen > below) continue;
    throw new SignerError({
      code: 'PATH_INVALID',
      disposition: 'authority',
      message: `no CA may follow below the CA of this signer: its chain has a pathLenConstraint of ${pathLen} and needs ${below + 1}`,
    });
  }
}
