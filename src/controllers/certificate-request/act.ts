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
import { SignerError, attempt } from '../../errors.ts';
import type { Profile } from '../../issuance/profile.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { RequestPolicy } from '../../policy/compile-policy.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { Held, Issuing } from '../../runtime/issuing/issuing.ts';
import type { Outcome } from '../../runtime/requests/outcome.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import { createSignOnce } from '../../runtime/issuing/sign-once.ts';
import { decide, type Plan } from './decide.ts';
import { afterHeld } from './held.ts';

export interface ActInit<S> {
  readonly component: Component;
  readonly resource: Resource;
  readonly profileOf: (signer: S) => Profile;
  readonly policyOf: (signer: S) => RequestPolicy;
  /** @throws SignerError */
  readonly issuingOf: (signer: S) => Issuing<CertificateRequest>;
  /** How long after its creation a request is retried; undefined: for ever. Milliseconds. */
  readonly maxRetryMs?: number | undefined;
}

/** Carries plans out: one PUT a request, fenced by resourceVersion; one signature a request. */
export function createActor<S extends SignerObject>(
  init: ActInit<S>,
): {
  readonly handle: (request: CertificateRequest, signer: S) => Promise<Outcome>;
  /**
   * What is to be shown whatever its signer is about: that it is denied, or that it was taken up;
   * undefined where nothing is.
   */
  readonly begin: (request: CertificateRequest) => Promise<Outcome | undefined>;
  /** The request `namespace/name` is gone. */
  readonly forget: (key: string) => void;
} {
  const { component } = init;
  const now = (): number => serverTime(component);
  const once = createSignOnce<CertificateRequest, S>({
    ...init,
    isFinished,
    withLeaf: (request, leaf) => withIssued(request, leaf, now()),
    certificateOf: ({ status }) => status?.certificate,
    hold,
  });

  async function answer(request: CertificateRequest, signer: S): Promise<Outcome> {
    const issuing = attempt(() => init.issuingOf(signer));
    const plan = decide({
      request,
      profile: init.profileOf(signer),
      policy: init.policyOf(signer),
      authority: issuing instanceof SignerError ? issuing : issuing.validity,
      reservedPrefixes: component.reservedPrefixes,
      now: now(),
    });
    if (plan.kind !== 'issue') return settle(request, plan);
    if (issuing instanceof SignerError) throw issuing;
    return once.issue(request, signer, plan, issuing);
  }

  async function hold(request: CertificateRequest, held: Held): Promise<Outcome> {
    const { maxRetryMs } = init;
    const ahead = component.client.clockOffset();
    const { write, ends, outcome } = afterHeld(request, held, { now: now(), ahead, maxRetryMs });
    if (write === undefined) return outcome;
    const written = await once.put(write);
    return ends ? { ...outcome, written } : { ...outcome, changed: written };
  }

  async function settle(
    request: CertificateRequest,
    plan: Exclude<Plan, { kind: 'issue' }>,
  ): Promise<Outcome> {
    switch (plan.kind) {
      case 'ignore':
        return { outcome: 'ignored', reason: '' };
      case 'wait':
        throw plan.error;
      case 'undecided':
        return undecided(plan);
      case 'deny':
        return { outcome: 'denied', reason: 'Denied', written: await deny(request) };
      case 'fail': {
        const { reason, message } = plan;
        const written = await once.put(withFailed(request, plan, now()));
        const event = { type: 'Warning', reason, action: 'Sign', note: message } as const;
        return { outcome: 'failed', reason, message, written, event };
      }
    }
  }

  /** Whoever denied it has told so; this only shows it where cert-manager looks. */
  function deny(request: CertificateRequest): Promise<CertificateRequest> {
    return once.put(withDenied(request, now()));
  }

  async function begin(request: CertificateRequest): Promise<Outcome | undefined> {
    if (isFinished(request)) return undefined;
    if (isDenied(request)) return settle(request, { kind: 'deny' });
    if (!isApproved(request) || !isUntouched(request)) return undefined;
    const changed = await once.put(withInitializing(request, now()));
    const again = { at: component.clock() };
    return { outcome: 'waiting', reason: 'Initializing', changed, again };
  }

  return {
    begin,
    handle: (request, signer) => once.handle(request, signer, (fresh) => answer(fresh, signer)),
    forget: once.forget,
  };
}

function undecided({ message, evaluationError }: Extract<Plan, { kind: 'undecided' }>): Outcome {
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
