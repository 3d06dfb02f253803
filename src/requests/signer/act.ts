// SPDX-License-Identifier: Apache-2.0
import { servesSigningRequests, type SignerObject } from '#api/signer/cluster-signer.ts';
import {
  csrWriteBody,
  isFinished,
  withCertificate,
  withFailed,
  type CertificateSigningRequest,
} from '#api/request/csr.ts';
import type { Profile } from '#ca/issuance/profile.ts';
import type { IntermediatePolicy } from '#ca/policy/intermediates.ts';
import { charged } from '#component/cpu-accounting.ts';
import { serverTime } from '#component/server-time.ts';
import { factsOfCsr } from '../recording/request-record.ts';
import type { RequestActorInit, RequestActor } from '../issuing/actor.ts';
import { Deliveries, type KeptLeaf } from '../issuing/deliveries.ts';
import type { Expiries } from '../issuing/expiries.ts';
import { caOf, issueLeaf } from '../issuing/issue.ts';
import type { IssuedChain } from '../issuing/issuing-ca.ts';
import { appendRecord, recordEnd, recordOf } from '../issuing/record.ts';
import { failed, settleByConditions, timesOf, type Settlement } from '../issuing/refusal-status.ts';
import { requireDeliverable, reusableLeaf, signingContextOf } from '../issuing/deliverable.ts';
import { csrFlow } from '../loop/csr-fairness.ts';
import { olderThanSigner } from '../loop/older-than-signer.ts';
import { IGNORED, issued, type RequestOutcome } from '../loop/outcome.ts';
import { writeSubresource, type SubresourceWrite } from '../loop/subresource-write.ts';
import { decide, type SigningInput, type SigningPlan } from './decide.ts';
import { decideIntermediate } from './decide-intermediate.ts';

export interface CsrActorInit<S> extends RequestActorInit<CertificateSigningRequest, S> {
  readonly profileOf: (signer: S) => Profile;
  /** Returns the rules of a signer with `spec.intermediates`. Absent for kinds without it. */
  readonly intermediatesOf?: ((signer: S) => IntermediatePolicy) | undefined;
  /** Records delivered certificates. */
  readonly expiries: Pick<Expiries, 'issued'>;
  /**
   * Milliseconds after a request's creation until which it is retried, or undefined for no limit.
   */
  readonly maxRetryMs?: number | undefined;
}

interface CsrActor<S> extends CsrActorInit<S> {
  readonly deliveries: Deliveries<CertificateSigningRequest, IssuedChain>;
}

/** Signs approved CertificateSigningRequests. */
export function createActor<S extends SignerObject>(
  init: CsrActorInit<S>,
): RequestActor<CertificateSigningRequest, S> {
  const deliveries = new Deliveries<CertificateSigningRequest, IssuedChain>(init.component);
  const at: CsrActor<S> = { ...init, deliveries };
  return {
    handle: (csr, signer) => answer(at, csr, signer),
    forget: deliveries.forget,
  };
}

/** certificates.k8s.io has both timestamps in a condition. */
const CONDITIONS = {
  withFailed,
  dated: (time: string) => ({ lastTransitionTime: time, lastUpdateTime: time }),
};

/** Handles a CertificateSigningRequest from the cached object to its outcome. */
async function answer<S extends SignerObject>(
  at: CsrActor<S>,
  seen: CertificateSigningRequest,
  signer: S,
): Promise<RequestOutcome> {
  const { component, cas, deliveries, resource } = at;

  const untouched = whyUntouched(seen, signer);
  if (untouched !== undefined) return untouched;
  const read = await deliveries.read(seen, resource, isFinished);
  if ('outcome' in read) return read.outcome;
  const csr = read.request;
  const earlier = reusableLeaf(at, read, signer);
  if (earlier !== undefined) return deliver(at, csr, signer, earlier);

  const { ca, authority } = caOf(cas, signer);
  const now = serverTime(component);
  const plan = charged(component, csrFlow(csr), () => planFor(at, signer, { csr, authority, now }));
  if (plan.kind === 'wait') throw plan.error;
  if (plan.kind !== 'issue') return settle(at, csr, signer, withoutLeaf(csr, plan, now));
  if (ca === undefined) throw authority;

  const asked = factsOfCsr(csr, signer);
  const refusal = cas.refusalOf?.(signer, { requester: asked.requester, leaf: plan });
  if (refusal !== undefined)
    return settle(
      at,
      csr,
      signer,
      failed(withFailed(csr, refusal, serverTime(component)), refusal),
    );
  const chain = await issueLeaf(component, ca, plan, csr);
  if (chain.kind === 'notIssued')
    return settle(
      at,
      csr,
      signer,
      settleByConditions(csr, chain, timesOf(component, at.maxRetryMs), CONDITIONS),
    );
  const leaf = deliveries.keep(csr, resource, {
    template: plan,
    requester: asked.requester,
    issued: chain,
    since: serverTime(component),
    signingContext: signingContextOf(signer, ca),
    omitted: plan.omitted,
    record: recordOf(component, asked, { ca }, chain),
  });
  return deliver(at, csr, signer, leaf);
}

/** Decides a request: for a leaf, or for the CA of another cluster. */
function planFor<S extends SignerObject>(
  { component, profileOf, intermediatesOf }: CsrActor<S>,
  signer: S,
  snapshot: Pick<SigningInput, 'csr' | 'authority' | 'now'>,
): SigningPlan {
  const { reservedPrefixes } = component;
  if (signer.spec.intermediates === undefined) {
    return decide({ ...snapshot, profile: profileOf(signer), reservedPrefixes });
  }
  if (intermediatesOf === undefined) return { kind: 'ignore' };
  return decideIntermediate({ ...snapshot, policy: intermediatesOf(signer), reservedPrefixes });
}

/** Completes a request with a leaf: records, delivers and reports it. */
async function deliver<S extends SignerObject>(
  at: CsrActor<S>,
  csr: CertificateSigningRequest,
  signer: S,
  leaf: KeptLeaf<IssuedChain>,
): Promise<RequestOutcome> {
  const { chain, validity } = leaf.issued;
  await appendRecord(at.component, leaf.record);
  requireDeliverable(at, { request: csr, leaf }, signer);
  const answered = withCertificate(csr, chain);
  const written = await at.deliveries.write(leaf, answered, statusWrite(at, answered));
  const { signerName, username: owner = '' } = csr.spec;
  const askedAt = Date.parse(csr.metadata.creationTimestamp);
  // The newest certificate of a user replaced the previous ones, so it alone counts.
  const of = { signer: signerName, namespace: '', owner };
  at.expiries.issued(`${signerName} ${owner}`, of, { askedAt, notAfter: validity.notAfter });
  return issued(written, leaf.omitted);
}

/** Completes a request without a leaf: records a final outcome, writes at most once, reports it. */
async function settle<S extends SignerObject>(
  at: CsrActor<S>,
  csr: CertificateSigningRequest,
  signer: S,
  { write, ends, outcome }: Settlement<CertificateSigningRequest>,
): Promise<RequestOutcome> {
  if (write === undefined) return outcome;
  if (ends) await recordEnd(at.component, factsOfCsr, { request: csr, signer }, outcome);
  const written = await writeSubresource(at.component.client, write, statusWrite(at, write));
  return ends ? { ...outcome, written } : { ...outcome, changed: written };
}

/** Returns the outcome of a request that gets no leaf by this plan. */
function withoutLeaf(
  csr: CertificateSigningRequest,
  plan: Extract<SigningPlan, { kind: 'ignore' | 'fail' }>,
  now: number,
): Settlement<CertificateSigningRequest> {
  if (plan.kind === 'fail') return failed(withFailed(csr, plan, now), plan);
  return { write: undefined, ends: false, outcome: IGNORED };
}

/**
 * Returns the outcome of a request that this signer leaves unchanged, or undefined if it handles
 * it.
 */
function whyUntouched(
  csr: CertificateSigningRequest,
  signer: SignerObject,
): RequestOutcome | undefined {
  return olderThanSigner(csr, signer) ?? (servesSigningRequests(signer.spec) ? undefined : IGNORED);
}

function statusWrite<S>(
  { resource }: Pick<CsrActor<S>, 'resource'>,
  answered: CertificateSigningRequest,
): SubresourceWrite {
  return { path: resource.object(answered.metadata, 'status'), body: csrWriteBody(answered) };
}
