// SPDX-License-Identifier: Apache-2.0
import { keyOf } from '../../api/object/object.ts';
import { MIN_LIFETIME_SECONDS } from '../../api/request/pod-certificate-request.ts';
import { SignerError, attempt } from '../../errors.ts';
import { verifyReturnedChain } from '../../issuance/verify-returned-chain.ts';
import { readCertificates, type Certificate } from '../../pki/x509/certificate.ts';
import { encodePem } from '../../pki/der/pem.ts';
import { readAnchors } from '../../pki/x509/trust-bundle.ts';
import type { Component } from '../../runtime/component/component.ts';
import type {
  IssuedChain,
  NotIssued,
  IssuingCa,
  CertificateTemplate,
} from '../../runtime/issuing/issuing-ca.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import type { GuardedCall } from '../calls/call-guard.ts';
import { classifyError, type ClassifiedError } from '../calls/classify-error.ts';
import type { AuthorityType } from '../define.ts';
import type { IssuerController } from '../issuers/issuer-controller.ts';
import type { KnownIssuer } from '../issuers/issuer-cache.ts';
import { cachedPemReader } from './pem-cache.ts';
import type { RequestOutcomes } from './request-outcomes.ts';
import { attachedLeaf } from './local-leaf.ts';
import type { Signed } from '../request.ts';
import { toSigningRequest, type ServedRequest } from './signing-request.ts';

/** What issuing by an author's CA needs. */
export interface ExternalCaInit<Config> {
  readonly component: Pick<Component, 'clock' | 'client' | 'log'>;
  readonly authority: AuthorityType<Config>;
  readonly call: GuardedCall<Config>;
  readonly controller: Pick<IssuerController, 'reportError' | 'reportSuccess'>;
  readonly outcomes: RequestOutcomes;
  /** The anchors of the issuer's published bundle; undefined when the issuer names none. */
  readonly bundleOf: (issuer: KnownIssuer<Config>) => readonly Certificate[] | undefined;
}

const readAbove = cachedPemReader(readCertificates);
const readRoots = cachedPemReader(readAnchors);

/** The validity of an external CA is unknown until it answers. 9999-12-31 is the latest time in a certificate (RFC 5280 §4.1.2.5). */
const UNBOUNDED_VALIDITY = { notBefore: 0, notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) };
/** certificates.k8s.io/v1 sets no minimum; a leaf that has expired on arrival is refused. */
const MIN_VALID_SECONDS = 1;

/** One issuer, and what issuing by its CA needs. */
interface ExternalCa<Config> extends ExternalCaInit<Config> {
  readonly issuer: KnownIssuer<Config>;
}

/**
 * Issues by calling an author's `sign`, and checks that the returned chain is what was requested and leads
 * to an anchor.
 */
export function externalCaIssuing<Config>(
  init: ExternalCaInit<Config>,
  issuer: KnownIssuer<Config>,
): IssuingCa<ServedRequest> {
  const ca: ExternalCa<Config> = { ...init, issuer };
  return {
    validity: UNBOUNDED_VALIDITY,
    identity: init.authority.name,
    issue: (wanted, object) => issue(ca, wanted, object),
  };
}

async function issue<Config>(
  ca: ExternalCa<Config>,
  wanted: CertificateTemplate,
  object: ServedRequest,
): Promise<IssuedChain | NotIssued> {
  const { authority, call, controller, outcomes, issuer } = ca;
  const { uid } = object.metadata;
  const failure = outcomes.permanentFailure(uid);
  if (failure !== undefined) return heldBy(failure);
  // Conditions that the object shows by now come from the object.
  const shown = new Set((object.status?.conditions ?? []).map(({ type }) => type));
  const kept = outcomes.conditions(uid).filter(({ type }) => !shown.has(type));
  const view = toSigningRequest(object, issuer.spec.signerName, wanted, kept);
  try {
    const signed = await call(issuer.view, (ctx) => authority.sign(view, issuer.view, ctx));
    const chain = verified(ca, signed, wanted, object);
    controller.reportSuccess(keyOf(issuer.metadata));
    outcomes.forget(uid);
    return chain;
  } catch (error) {
    const classified = classifyError(error);
    outcomes.record(uid, classified);
    if (classified.how === 'issuer') controller.reportError(keyOf(issuer.metadata), classified);
    return heldBy(classified);
  }
}

/** @throws SignerError if what the CA returned is not a chain for this request */
function verified<Config>(
  { component, bundleOf, issuer, authority }: ExternalCa<Config>,
  signed: Signed,
  wanted: CertificateTemplate,
  object: ServedRequest,
): IssuedChain {
  const published = bundleOf(issuer);
  const { chain, anchor } = verifyReturnedChain({
    ...wanted,
    chain: signed.chain,
    prepared: attachedLeaf(signed, wanted),
    minimumSeconds: 'podUID' in object.spec ? MIN_LIFETIME_SECONDS : MIN_VALID_SECONDS,
    anchors: published ?? anchorsOf(signed),
    now: serverTime(component),
    readAbove,
    allowedExtensions: authority.allowedExtensions,
  });
  const [leaf, ...above] = chain;
  const serial = Buffer.from(leaf.serial).toString('hex');
  component.log.debug({ uid: object.metadata.uid, serial }, 'signed');
  const { notBefore, notAfter } = leaf;
  return {
    kind: 'chain',
    chain: pemOf(leaf) + above.map(cachedPemOf).join(''),
    anchors: (published ?? [anchor]).map(cachedPemOf).join(''),
    validity: { notBefore, notAfter },
  };
}

function heldBy({ how, message, afterMs = 0, condition }: ClassifiedError): NotIssued {
  return {
    kind: 'notIssued',
    how,
    message,
    ...(how === 'pending' ? { afterMs } : {}),
    ...(condition === undefined ? {} : { condition }),
  };
}

function anchorsOf({ anchors }: Signed): readonly Certificate[] | undefined {
  if (anchors === undefined) return undefined;
  const read = attempt(() => readRoots(anchors));
  if (!(read instanceof SignerError)) return read;
  throw new SignerError({
    code: 'CORRESPONDENCE',
    disposition: 'authority',
    message: `the CA returned anchors that cannot be parsed: ${read.message}`,
    cause: read,
  });
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
