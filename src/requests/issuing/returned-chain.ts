// SPDX-License-Identifier: Apache-2.0
/** The chain of a CA outside Countersign: held to its request before it is delivered. */
import type { KubeObject } from '#api/object/object.ts';
import { MIN_LIFETIME_SECONDS } from '#api/request/pod-certificate-request.ts';
import { verifyReturnedChain } from '#ca/issuance/verify-returned-chain.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { encodePem } from '#pki/der/pem.ts';
import { readCertificates, type Certificate } from '#pki/x509/certificate.ts';
import type { CertificateTemplate, IssuedChain } from './issuing-ca.ts';
import { cachedPemReader } from './pem-cache.ts';

const readAbove = cachedPemReader(readCertificates);

/**
 * The validity of an external CA is unknown until it answers. 9999-12-31 is the latest time in a
 * certificate (RFC 5280 §4.1.2.5).
 */
export const UNBOUNDED_VALIDITY = { notBefore: 0, notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) };
/**
 * Shortest validity of a leaf. certificates.k8s.io/v1 sets no minimum, but a leaf that has expired
 * on arrival is rejected.
 */
const MIN_VALID_SECONDS = 1;

/** A chain that a CA returned for a request, not checked yet. */
export interface UncheckedChain {
  /** PEM: the leaf first, then its issuers in any order. */
  readonly chain: string;
  /** The first certificate of `chain`, if this process prepared it for this request. */
  readonly prepared?: Certificate | undefined;
  /** The trust anchors. If undefined, the chain must end in a root. */
  readonly anchors: readonly Certificate[] | undefined;
  /** The anchors to deliver. If absent, the one that the chain leads to. */
  readonly delivered?: readonly Certificate[] | undefined;
  readonly allowedExtensions?: readonly string[] | undefined;
}

/**
 * Checks the chain of an external CA.
 *
 * @throws SignerError if it is not a chain for this request
 */
export function issuedChain(
  component: Pick<Component, 'clock' | 'client' | 'log'>,
  wanted: CertificateTemplate,
  { metadata: { uid }, spec }: KubeObject & { readonly spec: object },
  { delivered, ...unchecked }: UncheckedChain,
): IssuedChain {
  const { chain, anchor } = verifyReturnedChain({
    ...wanted,
    ...unchecked,
    minimumSeconds: 'podUID' in spec ? MIN_LIFETIME_SECONDS : MIN_VALID_SECONDS,
    now: serverTime(component),
    readAbove,
  });
  const [leaf, ...above] = chain;
  const serial = Buffer.from(leaf.serial).toString('hex');
  component.log.debug({ uid, serial }, 'signed');
  const { notBefore, notAfter } = leaf;
  return {
    kind: 'chain',
    chain: pemOf(leaf) + above.map(cachedPemOf).join(''),
    anchors: (delivered ?? [anchor]).map(cachedPemOf).join(''),
    validity: { notBefore, notAfter },
  };
}

function pemOf({ raw }: Certificate): string {
  return encodePem('CERTIFICATE', raw);
}

/** PEM of issuers and anchors, which come with every leaf. */
const pems = new WeakMap<Certificate, string>();

function cachedPemOf(certificate: Certificate): string {
  const known = pems.get(certificate);
  if (known !== undefined) return known;
  const pem = pemOf(certificate);
  pems.set(certificate, pem);
  return pem;
}
