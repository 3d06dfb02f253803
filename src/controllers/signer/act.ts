// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/cluster-signer.ts';
import {
  isFinished,
  withCertificate,
  withFailed,
  type CertificateSigningRequest,
} from '../../api/csr.ts';
import type { Authority } from '../../authorities/contract.ts';
import { SignerError, attempt } from '../../errors.ts';
import type { Profile } from '../../issuance/profile.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Component } from '../../serving/component.ts';
import type { Outcome } from '../../serving/outcome.ts';
import { serverTime } from '../../serving/server-time.ts';
import { createSignOnce } from '../../serving/sign-once.ts';
import { decide, type Plan } from './decide.ts';

export interface ActInit {
  readonly component: Component;
  readonly resource: Resource;
  readonly profileOf: (signer: ClusterSigner) => Profile;
  /** @throws SignerError */
  readonly authorityOf: (signer: ClusterSigner) => Authority;
}

/** Carries plans out: one PUT a request, fenced by resourceVersion; one signature a request. */
export function createActor(init: ActInit): {
  readonly handle: (csr: CertificateSigningRequest, signer: ClusterSigner) => Promise<Outcome>;
  /** The request of that name is gone. */
  readonly forget: (name: string) => void;
} {
  const { component } = init;
  const once = createSignOnce<CertificateSigningRequest>({
    ...init,
    isFinished,
    withLeaf: (csr, { chain }) => withCertificate(csr, chain),
    certificateOf: ({ status }) => status?.certificate,
  });

  async function answer(csr: CertificateSigningRequest, signer: ClusterSigner): Promise<Outcome> {
    const authority = attempt(() => init.authorityOf(signer));
    const profile = init.profileOf(signer);
    const plan = decide({
      csr,
      profile,
      authority: authority instanceof SignerError ? authority : authority.facts,
      reservedPrefixes: component.reservedPrefixes,
      now: serverTime(component),
    });
    if (plan.kind !== 'issue') return settle(csr, plan);
    if (authority instanceof SignerError) throw authority;
    return once.issue(csr, signer, plan, authority);
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
