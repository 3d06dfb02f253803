// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import {
  csrWriteBody,
  isFinished,
  withCertificate,
  withFailed,
  type CertificateSigningRequest,
} from '../../api/request/csr.ts';
import { SignerError, attempt } from '../../errors.ts';
import type { Profile } from '../../issuance/profile.ts';
import type { Resource } from '../../kube/resource/resource.ts';
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
  /** @throws SignerError */
  readonly issuingOf: (signer: S) => Issuing<CertificateSigningRequest>;
  /** How long after its creation a request is retried; undefined: for ever. Milliseconds. */
  readonly maxRetryMs?: number | undefined;
}

/** Carries plans out: one PUT a request, fenced by resourceVersion; one signature a request. */
export function createActor<S extends SignerObject>(
  init: ActInit<S>,
): {
  readonly handle: (csr: CertificateSigningRequest, signer: S) => Promise<Outcome>;
  /** The request of that name is gone. */
  readonly forget: (name: string) => void;
} {
  const { component } = init;
  const once = createSignOnce<CertificateSigningRequest, S>({
    ...init,
    isFinished,
    bodyOf: csrWriteBody,
    withLeaf: (csr, { chain }) => withCertificate(csr, chain),
    certificateOf: ({ status }) => status?.certificate,
    hold,
  });

  async function answer(csr: CertificateSigningRequest, signer: S): Promise<Outcome> {
    const issuing = attempt(() => init.issuingOf(signer));
    const plan = decide({
      csr,
      profile: init.profileOf(signer),
      authority: issuing instanceof SignerError ? issuing : issuing.validity,
      reservedPrefixes: component.reservedPrefixes,
      now: serverTime(component),
    });
    if (plan.kind !== 'issue') return settle(csr, plan);
    if (issuing instanceof SignerError) throw issuing;
    return once.issue(csr, signer, plan, issuing);
  }

  async function hold(csr: CertificateSigningRequest, held: Held): Promise<Outcome> {
    const { write, ends, outcome } = afterHeld(csr, held, {
      now: serverTime(component),
      ahead: component.client.clockOffset(),
      maxRetryMs: init.maxRetryMs,
    });
    if (write === undefined) return outcome;
    const written = await once.put(write);
    return ends ? { ...outcome, written } : { ...outcome, changed: written };
  }

  async function settle(
    csr: CertificateSigningRequest,
    plan: Exclude<Plan, { kind: 'issue' }>,
  ): Promise<Outcome> {
    if (plan.kind === 'ignore') return { outcome: 'ignored', reason: '' };
    if (plan.kind === 'wait') throw plan.error;
    const written = await once.put(withFailed(csr, plan, serverTime(component)));
    return {
      outcome: 'failed',
      reason: plan.reason,
      message: plan.message,
      written,
      event: { type: 'Warning', reason: plan.reason, action: 'Sign', note: plan.message },
    };
  }

  return {
    handle: (csr, signer) => once.handle(csr, signer, (fresh) => answer(fresh, signer)),
    forget: once.forget,
  };
}
