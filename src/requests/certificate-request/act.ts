// SPDX-License-Identifier: Apache-2.0
import {
  isApproved,
  isDenied,
  isFinished,
  isUntouched,
  withDenied,
  withFailed,
  withInitializing,
  withIssued,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import type { Profile } from '#ca/issuance/profile.ts';
import { withoutManagedFields } from '#kube/resource/object.ts';
import type { RequestPolicy } from '#ca/policy/compile-policy.ts';
import { charged, namespaceFlow } from '#component/cpu-accounting.ts';
import { serverTime } from '#component/server-time.ts';
import { factsOfCertificateRequest } from '../recording/request-record.ts';
import type { RequestActorInit, RequestActor } from '../issuing/actor.ts';
import { Deliveries, type KeptLeaf, type ReadRequest } from '../issuing/deliveries.ts';
import { caOf, issueLeaf } from '../issuing/issue.ts';
import type { IssuedChain } from '../issuing/issuing-ca.ts';
import { appendRecord, recordEnd, recordOf } from '../issuing/record.ts';
import { failed, settleByConditions, timesOf, type Settlement } from '../issuing/refusal-status.ts';
import { requireDeliverable, reusableLeaf, signingContextOf } from '../issuing/deliverable.ts';
import { IGNORED, issued, type RequestOutcome } from '../loop/outcome.ts';
import { writeSubresource, type SubresourceWrite } from '../loop/subresource-write.ts';
import { decide, type CertificateRequestPlan } from './decide.ts';
import { undecidedUntil } from './max-age.ts';
import { pendingStatus } from './pending-status.ts';
import * as messages from './messages.ts';

export interface CertificateRequestActorInit<S> extends RequestActorInit<CertificateRequest, S> {
  readonly profileOf: (signer: S) => Profile;
  readonly policyOf: (signer: S) => RequestPolicy;
  /**
   * Milliseconds after a request's creation until which it is retried, or undefined for no limit.
   */
  readonly maxRetryMs?: number | undefined;
  /**
   * Maximum age in milliseconds of a request that no rule allows, or undefined for any age.
   */
  readonly maxAgeMs?: number | undefined;
}

/** Handles CertificateRequests. */
export interface CertificateRequestActor<S> extends RequestActor<CertificateRequest, S> {
  /**
   * Shows a denial or progress independently of the signer. Returns undefined if there is nothing
   * to show.
   */
  readonly begin: (request: CertificateRequest, signer: S) => Promise<RequestOutcome | undefined>;
  /**
   * Shows in Ready why an approved request waits. Returns the request as written, or undefined if
   * Ready shows it already.
   */
  readonly showWaiting: (
    request: CertificateRequest,
    outcome: RequestOutcome,
  ) => Promise<CertificateRequest | undefined>;
}

interface Actor<S> extends CertificateRequestActorInit<S> {
  readonly deliveries: Deliveries<CertificateRequest, IssuedChain>;
}

/** cert-manager.io has one timestamp in a condition. */
const CONDITIONS = { withFailed, dated: (time: string) => ({ lastTransitionTime: time }) };

/** Issues, denies and fails CertificateRequests of cert-manager. */
export function createActor<S extends SignerObject>(
  init: CertificateRequestActorInit<S>,
): CertificateRequestActor<S> {
  const deliveries = new Deliveries<CertificateRequest, IssuedChain>(init.component);
  const at: Actor<S> = { ...init, deliveries };
  const { maxAgeMs } = init;
  return {
    begin: (request, signer) => begin(at, request, signer),
    handle: (request, signer) =>
      maxAgeMs === undefined
        ? answer(at, request, signer)
        : answerInTime(at, request, signer, maxAgeMs),
    showWaiting: async (request, outcome) => {
      const pending = pendingStatus(request, outcome, serverTime(at.component));
      return pending === undefined ? undefined : put(at, pending);
    },
    forget: deliveries.forget,
  };
}

/** Shows that a request is denied or in progress, even if its signer cannot sign. */
async function begin<S extends SignerObject>(
  at: Actor<S>,
  request: CertificateRequest,
  signer: S,
): Promise<RequestOutcome | undefined> {
  const { component } = at;
  const now = serverTime(component);
  if (isFinished(request)) return undefined;
  if (isDenied(request)) return settle(at, request, signer, denied(request, now));
  if (!isApproved(request) || !isUntouched(request)) return undefined;
  const changed = await put(at, withInitializing(request, now));
  const again = { requeueAt: component.clock() };
  return { outcome: 'waiting', reason: 'Initializing', changed, again };
}

/** Handles a CertificateRequest from the cached object to its outcome. */
async function answer<S extends SignerObject>(
  at: Actor<S>,
  seen: CertificateRequest,
  signer: S,
): Promise<RequestOutcome> {
  const { component, cas, deliveries, resource } = at;

  const read = await deliveries.read(seen, resource, isFinished);
  if ('outcome' in read) return read.outcome;
  const { request } = read;
  const leaf = approvedLeaf(at, read);
  const earlier = reusableLeaf(at, { request, leaf }, signer);
  if (earlier !== undefined) return deliver(at, request, signer, earlier);

  const { ca, authority } = caOf(cas, signer);
  const now = serverTime(component);
  const { reservedPrefixes } = component;
  const plan = charged(component, namespaceFlow(request), () => {
    const [profile, policy] = [at.profileOf(signer), at.policyOf(signer)];
    return decide({ request, profile, policy, authority, reservedPrefixes, now });
  });
  if (plan.kind === 'wait') throw plan.error;
  if (plan.kind !== 'issue') return settle(at, request, signer, withoutLeaf(request, plan, now));
  if (ca === undefined) throw authority;

  const asked = factsOfCertificateRequest(request, signer);
  const refusal = cas.refusalOf?.(signer, { requester: asked.requester, leaf: plan });
  if (refusal !== undefined) {
    const end = failed(withFailed(request, refusal, serverTime(component)), refusal);
    return settle(at, request, signer, end);
  }
  const chain = await issueLeaf(component, ca, plan, request);
  if (chain.kind === 'notIssued') {
    const times = timesOf(component, at.maxRetryMs);
    return settle(at, request, signer, settleByConditions(request, chain, times, CONDITIONS));
  }
  const signed = deliveries.keep(request, resource, {
    template: plan,
    requester: asked.requester,
    issued: chain,
    since: serverTime(component),
    signingContext: signingContextOf(signer, ca),
    omitted: plan.omitted,
    record: recordOf(component, asked, { ca, rule: plan.rule }, chain),
  });
  return deliver(at, request, signer, signed);
}

/** Returns the leaf of an earlier attempt. Drops it if an approver denied the request since. */
function approvedLeaf<S>(
  { deliveries }: Actor<S>,
  { request, leaf }: Extract<ReadRequest<CertificateRequest, IssuedChain>, { request: unknown }>,
): KeptLeaf<IssuedChain> | undefined {
  if (isApproved(request) && !isDenied(request)) return leaf;
  deliveries.drop(request);
  return undefined;
}

/** Completes a request with a leaf: records, delivers and reports it. */
async function deliver<S extends SignerObject>(
  at: Actor<S>,
  request: CertificateRequest,
  signer: S,
  leaf: KeptLeaf<IssuedChain>,
): Promise<RequestOutcome> {
  const { component, deliveries } = at;
  await appendRecord(component, leaf.record);
  requireDeliverable(at, { request, leaf }, signer);
  const answered = withIssued(request, leaf.issued, serverTime(component));
  const written = await deliveries.write(leaf, answered, statusWrite(at, answered));
  return issued(written, leaf.omitted);
}

/** Completes a request without a leaf: records a final outcome, writes at most once, reports it. */
async function settle<S extends SignerObject>(
  at: Actor<S>,
  request: CertificateRequest,
  signer: S,
  { write, ends, outcome }: Settlement<CertificateRequest>,
): Promise<RequestOutcome> {
  if (write === undefined) return outcome;
  if (ends) await recordEnd(at.component, factsOfCertificateRequest, { request, signer }, outcome);
  const written = await put(at, write);
  return ends ? { ...outcome, written } : { ...outcome, changed: written };
}

/**
 * Handles a request, and fails it at its maximum age if no rule allows it. A CA that is not ready,
 * and an outage of the API server or the ledger, are not faults of the request.
 */
async function answerInTime<S extends SignerObject>(
  at: Actor<S>,
  request: CertificateRequest,
  signer: S,
  maxAgeMs: number,
): Promise<RequestOutcome> {
  const { component } = at;
  const outcome = await answer(at, request, signer);
  const undecidedRequest = undecidedUntil(request, outcome, maxAgeMs);
  if (undecidedRequest === undefined) return outcome;
  const { message, deadline } = undecidedRequest;
  const now = serverTime(component);
  if (now < deadline)
    return { ...outcome, again: { requeueAt: deadline + component.client.clockOffset() } };
  const failure = { reason: 'RetriesExhausted', message };
  return settle(at, request, signer, failed(withFailed(request, failure, now), failure));
}

/** Returns the outcome of a request that gets no leaf by this plan. */
function withoutLeaf(
  request: CertificateRequest,
  plan: Exclude<CertificateRequestPlan, { kind: 'issue' | 'wait' }>,
  now: number,
): Settlement<CertificateRequest> {
  switch (plan.kind) {
    case 'ignore':
      return { write: undefined, ends: false, outcome: IGNORED };
    case 'undecided':
      return { write: undefined, ends: false, outcome: undecided(plan) };
    case 'deny':
      return denied(request, now);
    case 'fail':
      return failed(withFailed(request, plan, now), plan);
  }
}

/**
 * Shows a denial in Ready, where cert-manager looks. The approver that denied the request records
 * the Event.
 */
function denied(
  request: CertificateRequest,
  now: number,
): Settlement<CertificateRequest> & { readonly write: CertificateRequest } {
  const outcome = { outcome: 'denied', reason: 'Denied' } as const;
  return { write: withDenied(request, now), ends: true, outcome };
}

function undecided({
  message,
  evaluationError,
}: Extract<CertificateRequestPlan, { kind: 'undecided' }>): RequestOutcome {
  const reason = evaluationError ? 'EvaluationError' : 'NoRuleMatched';
  return {
    outcome: 'undecided',
    reason,
    message,
    event: {
      type: 'Warning',
      reason,
      action: 'Sign',
      note: messages.undecided(message),
    },
  };
}

function put<S>(at: Actor<S>, answered: CertificateRequest): Promise<CertificateRequest> {
  return writeSubresource(at.component.client, answered, statusWrite(at, answered));
}

function statusWrite<S>(
  { resource }: Pick<Actor<S>, 'resource'>,
  answered: CertificateRequest,
): SubresourceWrite {
  const body = withoutManagedFields(answered);
  return { path: resource.object(answered.metadata, 'status'), body };
}
