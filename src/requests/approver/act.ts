// SPDX-License-Identifier: Apache-2.0
import { csrWriteBody, withApproval, type CertificateSigningRequest } from '#api/request/csr.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { RequestPolicy } from '#ca/policy/compile-policy.ts';
import type { IntermediatePolicy } from '#ca/policy/intermediates.ts';
import { charged } from '#component/cpu-accounting.ts';
import { appendBefore, type RecordingComponent } from '../recording/recorder.ts';
import { factsOfCsr } from '../recording/request-record.ts';
import { csrFlow } from '../loop/csr-fairness.ts';
import { olderThanSigner } from '../loop/older-than-signer.ts';
import { IGNORED, lessThanRequested, type RequestOutcome } from '../loop/outcome.ts';
import { serverTime } from '#component/server-time.ts';
import { writeSubresource } from '../loop/subresource-write.ts';
import { decide, type ApprovalPlan } from './decide.ts';
import { decideIntermediate, type IntermediatePlan } from './decide-intermediate.ts';
import * as messages from './messages.ts';

export interface ApproverActorInit<S> {
  readonly component: RecordingComponent;
  readonly resource: Resource;
  readonly policyOf: (signer: S) => RequestPolicy;
  /** Returns the rules of a signer with `spec.intermediates`. Absent for kinds without it. */
  readonly intermediatesOf?: ((signer: S) => IntermediatePolicy) | undefined;
}

/** Applies plans with one PUT /approval per request, fenced by resourceVersion. */
export function createActor<S extends SignerObject>(
  init: ApproverActorInit<S>,
): (csr: CertificateSigningRequest, signer: S) => Promise<RequestOutcome> {
  const { component, resource, policyOf, intermediatesOf } = init;
  const { reservedPrefixes } = component;

  function planFor(csr: CertificateSigningRequest, signer: S): ApprovalPlan | IntermediatePlan {
    if (signer.spec.intermediates === undefined) {
      return decide({ csr, policy: policyOf(signer), reservedPrefixes });
    }
    if (intermediatesOf === undefined) return { kind: 'ignore' };
    return decideIntermediate({ csr, policy: intermediatesOf(signer), reservedPrefixes });
  }

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
        plan.omitted === undefined ? {} : { event: lessThanRequested('Approve', plan.omitted) };
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
    const older = olderThanSigner(csr, signer);
    if (older !== undefined) return older;
    const plan = charged(component, csrFlow(csr), () => planFor(csr, signer));
    if (plan.kind === 'ignore') return IGNORED;
    if (plan.kind === 'error') throw plan.error;
    if (plan.kind === 'unissuable') return reportUnissuable(plan);
    if (plan.kind !== 'wait') return write(csr, signer, plan);
    const { omitted } = plan;
    const less = omitted === undefined ? '' : messages.omissions(omitted);
    const reason = plan.evaluationError ? 'EvaluationError' : 'NoRuleMatched';
    return {
      outcome: 'undecided',
      reason,
      message: plan.message,
      event: {
        type: plan.evaluationError ? 'Warning' : 'Normal',
        reason,
        action: 'Approve',
        // The remedy comes first: Event notes are cut at their end, and the reasons of many rules
        // are long.
        note: messages.undecided(csr.metadata.name, less, plan.message),
      },
    };
  };
}

/** Warns before a person approves a request that its signer would fail for good. */
function reportUnissuable({
  reason,
  message,
}: Extract<ApprovalPlan, { kind: 'unissuable' }>): RequestOutcome {
  const note = messages.hopeless(message);
  const event = { type: 'Warning', reason, action: 'Approve', note } as const;
  return { outcome: 'undecided', reason, message: note, event };
}

/** Records the decision before it is written, if there is a ledger. */
async function record(
  component: RecordingComponent,
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
  const { recorder } = component;
  if (recorder === undefined) return;
  const { rule } = plan;
  const asked = {
    ...factsOfCsr(csr, signer),
    ...(rule === undefined ? {} : { decision: { rule } }),
  };
  const kind = plan.kind === 'approve' ? 'approved' : 'denied';
  await appendBefore(component, () => recorder.ended(kind, asked, plan));
}
