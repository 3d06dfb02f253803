// SPDX-License-Identifier: Apache-2.0
/** Texts of the bundle-endpoint, by where users read them. */
import { quantity } from '#base/quantity.ts';

// Log

export const BUNDLE_SERVED = 'serves the bundle of a trust domain';
export const BUNDLE_NOT_SERVED = 'bundle is not served as published';

// Log and /readyz

export function leftOutAnchors(leftOut: number, total: number): string {
  return `${leftOut} of ${total} anchors have a key that no consumer of SPIFFE bundles reads (ML-DSA): they are left out`;
}

export const NO_CERTIFICATE = 'no bundle of the trust domain holds a certificate';

export function unpublishedBundle(signerName: string): string {
  return `no bundle of signer ${signerName} is published`;
}

export function unservedSigner(signerName: string): string {
  return `no ClusterSigner serves ${signerName}, so its anchors cannot be verified`;
}

export function foreignBundle(name: string): string {
  return `bundle ${name} is not published by this installation`;
}

export function unknownCertificates(
  name: string,
  count: number,
  first: string | undefined,
): string {
  return `bundle ${name} holds ${quantity(count, 'certificate')} that its ClusterSigner does not name, or distrusts: ${first ?? ''}`;
}

// /readyz

export function unlistedSigners(failure: string | undefined): string {
  return `ClusterSigners: ${failure ?? 'not listed yet'}`;
}

export function unlistedBundles(failure: string | undefined): string {
  return `bundles: ${failure ?? 'not listed yet'}`;
}

export function brokenWatch(what: string, failure: string): string {
  return `${what}: ${failure}`;
}

export const NO_TRUST_DOMAIN = 'no --trust-domain: no bundle is served';

export function ofTrustDomain(domain: string, problem: string): string {
  return `trust domain ${domain}: ${problem}`;
}

// Log and refused certificates: the server

export const SERVES_BUNDLES = 'serves SPIFFE bundles';
export const NO_CERTIFICATE_IN_FILE = 'tls.crt has no certificate';

export function notAnSvid(fault: string): string {
  return `tls.crt is not an X509-SVID: ${fault}`;
}
