// SPDX-License-Identifier: Apache-2.0
import { keyOf } from '#api/object/object.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { membersOf } from '#base/record.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { rejectedAnchor } from '#pki/x509/verifier-rules.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import type {
  IssuedChain,
  NotIssued,
  IssuingCa,
  CertificateTemplate,
} from '#requests/issuing/issuing-ca.ts';
import { cachedPemReader } from '#requests/issuing/pem-cache.ts';
import { issuedChain, UNBOUNDED_VALIDITY } from '#requests/issuing/returned-chain.ts';
import type { GuardedCall } from '../calls/call-guard.ts';
import { classifyError, type ClassifiedError } from '../calls/classify-error.ts';
import type { AuthorityType } from '../define.ts';
import type { IssuerController } from '../issuers/issuer-controller.ts';
import type { KnownIssuer } from '../issuers/issuer-cache.ts';
import type { RequestOutcomes } from './request-outcomes.ts';
import { attachedLeaf } from './local-leaf.ts';
import type { SignedCertificate } from '../request.ts';
import { toSigningRequest, type ServedRequest } from './signing-request.ts';
import * as messages from '../messages.ts';

/** Parts of issuing by an author's CA. */
export interface ExternalCaInit<Config> {
  readonly component: Pick<Component, 'clock' | 'client' | 'log'>;
  readonly authority: AuthorityType<Config>;
  readonly call: GuardedCall<Config>;
  readonly controller: Pick<IssuerController, 'reportError' | 'reportSuccess' | 'reportAnchors'>;
  readonly outcomes: RequestOutcomes;
  /**
   * Returns the anchors of the issuer's published bundle, or undefined if the issuer names none.
   */
  readonly bundleOf: (issuer: KnownIssuer<Config>) => readonly Certificate[] | undefined;
}

const readRoots = cachedPemReader(readAnchors);

/** One issuer, and the parts of issuing by its CA. */
interface ExternalCa<Config> extends ExternalCaInit<Config> {
  readonly issuer: KnownIssuer<Config>;
}

/**
 * Issues by calling an author's `sign`. Checks that the returned chain matches the request and
 * leads to an anchor.
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
  // Conditions that the object has by now come from the object.
  const shown = new Set((object.status?.conditions ?? []).map(({ type }) => type));
  const kept = outcomes.conditions(uid).filter(({ type }) => !shown.has(type));
  const view = toSigningRequest(object, issuer.spec.signerName, wanted, kept);
  try {
    const signed = await call(issuer.view, (ctx) => authority.sign(view, issuer.view, ctx));
    requireText(signed);
    const chain = verified(ca, signed, wanted, object);
    controller.reportSuccess(keyOf(issuer.metadata));
    outcomes.forget(uid);
    return chain;
  } catch (error) {
    const classified = classifyError(error);
    outcomes.record(uid, classified);
    if (classified.how === 'issuer') controller.reportError(issuer, classified);
    return heldBy(classified);
  }
}

/** @throws SignerError for the answer of an author without types that has no PEM text */
function requireText(signed: unknown): void {
  const { chain, anchors } = membersOf(signed);
  if (typeof chain !== 'string') throw mismatch(messages.NO_CHAIN);
  if (!['string', 'undefined'].includes(typeof anchors)) throw mismatch(messages.NO_ANCHOR_TEXT);
}

function mismatch(message: string, cause?: unknown): SignerError {
  return new SignerError({ code: 'CORRESPONDENCE', disposition: 'authority', message, cause });
}

/** @throws SignerError if the CA's answer is not a chain for this request */
function verified<Config>(
  { component, bundleOf, issuer, authority, controller }: ExternalCa<Config>,
  signed: SignedCertificate,
  wanted: CertificateTemplate,
  object: ServedRequest,
): IssuedChain {
  const published = bundleOf(issuer);
  const anchors = published ?? anchorsOf(signed);
  const chain = issuedChain(component, wanted, object, {
    chain: signed.chain,
    prepared: attachedLeaf(signed, wanted),
    anchors,
    delivered: published,
    allowedExtensions: authority.allowedExtensions,
  });
  const rejected = anchors === undefined ? undefined : rejectionOf(anchors, serverTime(component));
  // The anchors of two answers may differ, but an issuer has one bundle.
  if (rejected !== undefined || published !== undefined)
    controller.reportAnchors(keyOf(issuer.metadata), rejected);
  return chain;
}

/** The result of {@link rejectedAnchor} for anchors that come with every certificate. */
const rejections = new WeakMap<readonly Certificate[], { readonly found: string | undefined }>();

function rejectionOf(anchors: readonly Certificate[], now: number): string | undefined {
  const known = rejections.get(anchors) ?? { found: rejectedAnchor(anchors, now) };
  rejections.set(anchors, known);
  return known.found;
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

function anchorsOf({ anchors }: SignedCertificate): readonly Certificate[] | undefined {
  if (anchors === undefined) return undefined;
  const read = attempt(() => readRoots(anchors));
  if (!(read instanceof SignerError)) return read;
  throw mismatch(messages.unreadableAnchors(read.message), read);
}
