// SPDX-License-Identifier: Apache-2.0
import {
  csrWriteBody,
  withApproval,
  type CertificateSigningRequest,
} from '../../api/request/csr.ts';
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { RequestPolicy } from '../../policy/compile-policy.ts';
import { charged } from '../../runtime/component/charged.ts';
import type { Component } from '../../runtime/component/component.ts';
import { askedOfCsr } from '../../runtime/recording/asked.ts';
import { csrFlow } from '../../runtime/requests/csr-fairness.ts';
import { lessThanRequested, type RequestOutcome } from '../../runtime/requests/outcome.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import { writeSubresource } from '../../runtime/requests/subresource-write.ts';
import { decide, type ApprovalPlan } from './decide.ts';
import { shellWord } from '../../quote.ts';

export interface ApproverActorInit<S> {
  readonly component: Component;
  readonly resource: Resource;
  readonly policyOf: (signer: S) => RequestPolicy;
}

/** Carries plans out: one PUT /approval a request, fenced by resourceVersion. */
export function createActor<S extends SignerObject>(
  init: ApproverActorInit<S>,
): (csr: CertificateSigningRequest, signer: S) => Promise<RequestOutcome> {
  const { component, resource, policyOf } = init;

  async function write(
    csr: CertificateSigningRequest,
    signer: S,
    plan: Extract<ApprovalPlan, { kind: 'approve' | 'deny' }>,
  ): Promise<RequestOutcome> {
    await record(component, { csr, signer, plan });
    const type = plan.kind === 'approve' ? 'Approved' : 'Denied';
    const approval = { type, reason: plan.reason, message: plan.message } as const;
    const decided = withApproval(csr, approval, serverTime(component));
    const written = await writeSubresource(component.client, decided, {
      path: resource.object(csr.metadata, 'approval'),
      body: csrWriteBody(decided),
    });
    const answer = { reason: plan.reason, message: plan.message, written };
    if (plan.kind === 'approve') {
      const less =
        plan.withheld === undefined ? {} : { event: lessThanRequested('Approve', plan.withheld) };
      return { outcome: 'approved', ...answer, ...less };
    }
    const event = {
      type: 'Warning',
      reason: plan.reason,
      action: 'Approve',
      note: plan.message,
    } as const;
    return { outcome: 'denied', ...answer, event };
  }

  return async (csr, signer) => {
    const { reservedPrefixes } = component;
    const plan = charged(component, csrFlow(csr), () =>
      decide({ csr, policy: policyOf(signer), reservedPrefixes }),
    );
    if (plan.kind === 'ignore') return { outcome: 'ignored', reason: '' };
    if (plan.kind !== 'wait') return write(csr, signer, plan);
    const { withheld } = plan;
    const less = withheld === undefined ? '' : `, whose certificate would have ${withheld}`;
    const reason = plan.evaluationError ? 'EvaluationError' : 'NoRuleMatched';
    return {
      outcome: 'undecided',
      reason,
      message: plan.message,
      event: {
        type: plan.evaluationError ? 'Warning' : 'Normal',
        reason,
        action: 'Approve',
        // What to do comes first: a note is cut at its end, and the reasons of many rules are long.
        note: `an administrator may decide with kubectl certificate approve ${shellWord(csr.metadata.name, 'csr/')}${less}; ${plan.message}`,
      },
    };
  };
}

/** Records the decision, where there is a ledger, before it is written. */
async function record(
  { recorder }: Component,
  {
    csr,
    signer,
    plan,
  }: {
    readonly csr: CertificateSigningRequest;
    readonly signer: SignerObject;
    readonly plan: Extract<ApprovalPlan, { kind: 'approve' | 'deny' }>;
  },
): Promise<void> {
  if (recorder === undefined) return;
  const { rule } = plan;
  const asked = {
    ...askedOfCsr(csr, signer),
    ...(rule === undefined ? {} : { decision: { rule } }),
  };
  await recorder.ended(plan.kind === 'approve' ? 'approved' : 'denied', asked, plan);
}
