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
  LeafTemplate,
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

export interface ExternalCaInit<Config> {
  readonly component: Pick<Component, 'clock' | 'client' | 'log'>;
  readonly authority: AuthorityType<Config>;
  readonly call: GuardedCall<Config>;
  readonly loop: Pick<IssuerController, 'reportError' | 'reportSuccess'>;
  readonly memory: RequestOutcomes;
  /** The anchors of its published bundle, where the issuer names one. */
  readonly bundleOf: (issuer: KnownIssuer<Config>) => readonly Certificate[] | undefined;
}

const readAbove = cachedPemReader(readCertificates);
const readRoots = cachedPemReader(readAnchors);

/** A CA that is not ours has a validity that we learn from its answers only (RFC 5280 §4.1.2.5). */
const UNBOUNDED_VALIDITY = { notBefore: 0, notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) };
/** certificates.k8s.io/v1 has no least for what is issued; a leaf that is over when it comes is none. */
const LEAST_SECONDS = 1;

/** A CA that an author's `sign` speaks for. What it returns is held to what was asked. */
export function externalCaIssuing<Config>(
  init: ExternalCaInit<Config>,
  issuer: KnownIssuer<Config>,
): IssuingCa<ServedRequest> {
  const { component, authority, call, loop, memory } = init;
  const key = keyOf(issuer.metadata);

  async function issue(
    wanted: LeafTemplate,
    object: ServedRequest,
  ): Promise<IssuedChain | NotIssued> {
    const { uid } = object.metadata;
    const ended = memory.permanentFailure(uid);
    if (ended !== undefined) return heldBy(ended);
    // A condition that the object shows by now need not be remembered twice.
    const shown = new Set((object.status?.conditions ?? []).map(({ type }) => type));
    const kept = memory.conditions(uid).filter(({ type }) => !shown.has(type));
    const view = toSigningRequest(object, issuer.spec.signerName, wanted, kept);
    try {
      const signed = await call(issuer.view, (ctx) => authority.sign(view, issuer.view, ctx));
      const chain = accepted(signed, wanted, object);
      loop.reportSuccess(key);
      memory.forget(uid);
      return chain;
    } catch (error) {
      const thrown = classifyError(error);
      memory.record(uid, thrown);
      if (thrown.how === 'issuer') loop.reportError(key, thrown);
      return heldBy(thrown);
    }
  }

  function accepted(signed: Signed, wanted: LeafTemplate, object: ServedRequest): IssuedChain {
    const published = init.bundleOf(issuer);
    const { chain, anchor } = verifyReturnedChain({
      ...wanted,
      chain: signed.chain,
      prepared: attachedLeaf(signed, wanted),
      minimumSeconds: 'podUID' in object.spec ? MIN_LIFETIME_SECONDS : LEAST_SECONDS,
      anchors: published ?? anchorsOf(signed),
      now: serverTime(component),
      readAbove,
    });
    const [leaf, ...above] = chain;
    const serial = Buffer.from(leaf.serial).toString('hex');
    component.log.debug({ uid: object.metadata.uid, serial }, 'signed');
    const { notBefore, notAfter } = leaf;
    return {
      kind: 'chain',
      chain: pemOf(leaf) + above.map(knownPemOf).join(''),
      anchors: (published ?? [anchor]).map(knownPemOf).join(''),
      validity: { notBefore, notAfter },
    };
  }

  return { validity: UNBOUNDED_VALIDITY, identity: authority.name, issue };
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
    message: `the CA returned anchors that cannot be read: ${read.message}`,
    cause: read,
  });
}

function pemOf({ raw }: Certificate): string {
  return encodePem('CERTIFICATE', raw);
}

/** Of what comes with every leaf. */
const pems = new WeakMap<Certificate, string>();

function knownPemOf(certificate: Certificate): string {
  const known = pems.get(certificate);
  if (known !== undefined) return known;
  const pem = pemOf(certificate);
  pems.set(certificate, pem);
  return pem;
}
