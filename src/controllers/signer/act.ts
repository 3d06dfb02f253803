// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import {
  csrWriteBody,
  isFinished,
  withCertificate,
  withFailed,
  type CertificateSigningRequest,
} from '../../api/request/csr.ts';
import type { Profile } from '../../issuance/profile.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { Component } from '../../runtime/component/component.ts';
import { askedOfCsr } from '../../runtime/recording/asked.ts';
import type { Expiries } from '../../runtime/issuing/expiries.ts';
import { csrFlow } from '../../runtime/requests/csr-fairness.ts';
import type { IssuedChain, IssuingCa, IssuingCas } from '../../runtime/issuing/issuing-ca.ts';
import { NOTHING, failed, settleByConditions } from '../../runtime/issuing/not-issued.ts';
import {
  chainFromBase64,
  createRedelivery,
  type Redelivery,
} from '../../runtime/issuing/redelivery.ts';
import type { Decision } from '../../runtime/issuing/request-kind.ts';
import { decide, type SigningPlan } from './decide.ts';

export interface CsrActorInit<S> {
  readonly component: Component;
  readonly resource: Resource;
  readonly profileOf: (signer: S) => Profile;
  /** @throws SignerError */
  readonly issuingOf: (signer: S) => IssuingCa<CertificateSigningRequest>;
  /** Why a holder gets no certificate; absent: nobody is refused. */
  readonly refusalOf?: IssuingCas<S, CertificateSigningRequest>['refusalOf'];
  /** Where delivered certificates are noted. */
  readonly expiries: Pick<Expiries, 'issued'>;
  /** How long after its creation a request is retried, in milliseconds; undefined: without end. */
  readonly maxRetryMs?: number | undefined;
}

/** Carries out what {@link decide} plans for CertificateSigningRequests. */
export function createActor<S extends SignerObject>(
  init: CsrActorInit<S>,
): Redelivery<CertificateSigningRequest, S> {
  const { reservedPrefixes } = init.component;
  return createRedelivery<CertificateSigningRequest, S, IssuedChain>({
    ...init,
    askedOf: askedOfCsr,
    flowOf: csrFlow,
    decide: (csr, signer, { authority, now }) => {
      const profile = init.profileOf(signer);
      return carriedOut(csr, decide({ csr, profile, authority, reservedPrefixes, now }), now);
    },
    refused: (csr, why, now) => failed(csr, why, { withFailed }, now),
    isFinished,
    onDelivered: ({ metadata, spec }, { validity: { notAfter } }) => {
      const { signerName: signer, username: owner = '' } = spec;
      const askedAt = Date.parse(metadata.creationTimestamp);
      // The newest of a person or machine counts: those before it were replaced.
      const of = { signer, namespace: '', owner };
      init.expiries.issued(`${signer} ${owner}`, of, { askedAt, notAfter });
    },
    withIssued: (csr, { chain }) => withCertificate(csr, chain),
    chainOf: ({ status }) => chainFromBase64(status?.certificate),
    bodyOf: (csr) => ({ body: csrWriteBody(csr) }),
    notIssued: (csr, notIssued, times) =>
      settleByConditions(csr, notIssued, times, {
        withFailed,
        // certificates.k8s.io has both timestamps in a condition.
        dated: (time) => ({ lastTransitionTime: time, lastUpdateTime: time }),
      }),
  });
}

function carriedOut(
  csr: CertificateSigningRequest,
  plan: SigningPlan,
  now: number,
): Decision<CertificateSigningRequest, IssuedChain> {
  switch (plan.kind) {
    case 'ignore':
      return NOTHING;
    case 'wait':
      return plan;
    case 'issue':
      return { kind: 'issue', leaf: plan, withheld: plan.withheld, completed: (chain) => chain };
    case 'fail':
      return { kind: 'settle', ...failed(csr, plan, { withFailed }, now) };
  }
}
