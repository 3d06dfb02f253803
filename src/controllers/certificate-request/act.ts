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
} from '../../api/request/certificate-request.ts';
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import type { Profile } from '../../issuance/profile.ts';
import { withoutManagedFields } from '../../kube/resource/object.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { RequestPolicy } from '../../policy/compile-policy.ts';
import { namespaceFlow } from '../../runtime/component/charged.ts';
import type { Component } from '../../runtime/component/component.ts';
import { askedOfCertificateRequest } from '../../runtime/recording/asked.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import type { IssuedChain, IssuingCa, IssuingCas } from '../../runtime/issuing/issuing-ca.ts';
import { NOTHING, failed, settleByConditions } from '../../runtime/issuing/not-issued.ts';
import {
  chainFromBase64,
  createRedelivery,
  type Redelivery,
} from '../../runtime/issuing/redelivery.ts';
import type { Decision } from '../../runtime/issuing/request-kind.ts';
import type { RequestOutcome } from '../../runtime/requests/outcome.ts';
import { decide, type CertificateRequestPlan } from './decide.ts';

export interface CertificateRequestActorInit<S> {
  readonly component: Component;
  readonly resource: Resource;
  readonly profileOf: (signer: S) => Profile;
  readonly policyOf: (signer: S) => RequestPolicy;
  /** @throws SignerError */
  readonly issuingOf: (signer: S) => IssuingCa<CertificateRequest>;
  /** Why a holder gets no certificate; absent: nobody is refused. */
  readonly refusalOf?: IssuingCas<S, CertificateRequest>['refusalOf'];
  /** How long after its creation a request is retried, in milliseconds; undefined: without end. */
  readonly maxRetryMs?: number | undefined;
}

/** How CertificateRequests are answered. */
export interface CertificateRequestActor<S> extends Redelivery<CertificateRequest, S> {
  /**
   * What to show independently of the signer: that the request is denied, or that it is in progress;
   * undefined if there is nothing to show.
   */
  readonly begin: (request: CertificateRequest) => Promise<RequestOutcome | undefined>;
}

/** Carries out what {@link decide} plans for CertificateRequests. */
export function createActor<S extends SignerObject>(
  init: CertificateRequestActorInit<S>,
): CertificateRequestActor<S> {
  const { component } = init;
  const { reservedPrefixes } = component;
  const redelivery = createRedelivery<CertificateRequest, S, IssuedChain>({
    ...init,
    askedOf: askedOfCertificateRequest,
    flowOf: namespaceFlow,
    decide: (request, signer, { authority, now }) => {
      const [profile, policy] = [init.profileOf(signer), init.policyOf(signer)];
      const snapshot = { request, profile, policy, authority, reservedPrefixes, now };
      return carriedOut(request, decide(snapshot), now);
    },
    refused: (request, why, now) => failed(request, why, { withFailed }, now),
    isFinished,
    withIssued,
    chainOf: ({ status }) => chainFromBase64(status?.certificate),
    bodyOf: (request) => ({ body: withoutManagedFields(request) }),
    notIssued: (request, notIssued, times) =>
      settleByConditions(request, notIssued, times, {
        withFailed,
        // cert-manager.io has one timestamp in a condition.
        dated: (time) => ({ lastTransitionTime: time }),
      }),
  });

  async function begin(request: CertificateRequest): Promise<RequestOutcome | undefined> {
    const now = serverTime(component);
    if (isFinished(request)) return undefined;
    if (isDenied(request)) {
      const { write, outcome } = denied(request, now);
      return { ...outcome, written: await redelivery.put(write) };
    }
    if (!isApproved(request) || !isUntouched(request)) return undefined;
    const changed = await redelivery.put(withInitializing(request, now));
    const again = { requeueAt: component.clock() };
    return { outcome: 'waiting', reason: 'Initializing', changed, again };
  }

  return { ...redelivery, begin };
}

function carriedOut(
  request: CertificateRequest,
  plan: CertificateRequestPlan,
  now: number,
): Decision<CertificateRequest, IssuedChain> {
  switch (plan.kind) {
    case 'ignore':
      return NOTHING;
    case 'wait':
      return plan;
    case 'issue':
      return {
        kind: 'issue',
        leaf: plan,
        withheld: plan.withheld,
        rule: plan.rule,
        completed: (chain) => chain,
      };
    case 'undecided':
      return { ...NOTHING, outcome: undecided(plan) };
    case 'deny':
      return denied(request, now);
    case 'fail':
      return { kind: 'settle', ...failed(request, plan, { withFailed }, now) };
  }
}

/** The approver that denied it records the Event; this write shows it where cert-manager looks. */
function denied(
  request: CertificateRequest,
  now: number,
): Extract<Decision<CertificateRequest, IssuedChain>, { kind: 'settle' }> & {
  readonly write: CertificateRequest;
} {
  return {
    kind: 'settle',
    write: withDenied(request, now),
    ends: true,
    outcome: { outcome: 'denied', reason: 'Denied' },
  };
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
      note: `approved, but no rule of spec.certificateRequests allows it; it waits until one does: ${message}`,
    },
  };
}
