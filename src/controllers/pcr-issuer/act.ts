// SPDX-License-Identifier: Apache-2.0
import type { HolderRefusal } from '../../revocation/holders.ts';
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import {
  isTerminal,
  withDenied,
  withFailed,
  withIssued,
  type PodCertificateRequest,
} from '../../api/request/pod-certificate-request.ts';
import { podStatusBody } from '../../api/request/pod-certificate-request-message.ts';
import { formatDuration } from '../../api/object/duration.ts';
import { formatTime } from '../../api/object/time.ts';
import { SignerError } from '../../errors.ts';
import type { Profile } from '../../issuance/profile.ts';
import { refreshTime } from '../../issuance/validity.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { Random } from '../../ports.ts';
import { PROTOBUF } from '../../protobuf/envelope.ts';
import { namespaceFlow } from '../../runtime/component/charged.ts';
import type { Component } from '../../runtime/component/component.ts';
import { askedOfPod, type ProvenBy } from '../../runtime/recording/asked.ts';
import type { IssuedChain, IssuingCa, IssuingCas } from '../../runtime/issuing/issuing-ca.ts';
import { NOTHING, type Settlement } from '../../runtime/issuing/not-issued.ts';
import { createRedelivery, type Redelivery } from '../../runtime/issuing/redelivery.ts';
import type { Decision, Moment } from '../../runtime/issuing/request-kind.ts';
import { decide } from './decide.ts';
import { outcomeOf } from './waiting-for-ca.ts';
import type { PodEvidence, Proof } from './evidence/evidence.ts';
import { isKept } from './evidence/outdated-names.ts';
import type { PodReader } from './evidence/pod-reader.ts';
import type { PodPlan } from './plan.ts';
import type { Renewals } from './renewals.ts';

export interface PodActorInit<S> {
  readonly component: Component;
  readonly resource: Resource;
  /** v1beta1, if the server has it besides v1: only v1beta1 shows all of what old kubelets write. */
  readonly legacy: Resource | undefined;
  readonly profileOf: (signer: S) => Profile;
  /** @throws SignerError */
  readonly issuingOf: (signer: S) => IssuingCa<PodCertificateRequest>;
  /** Why a holder gets no certificate; absent: nobody is refused. */
  readonly refusalOf?: IssuingCas<S, PodCertificateRequest>['refusalOf'];
  /** Reads pods and Services for signers that ask for it. */
  readonly reader: PodReader;
  /** Whether records say by which Services a name was proven. */
  readonly recordsProofs?: boolean;
  /** What pods have already. */
  readonly renewals: Pick<Renewals, 'replaces'>;
}

/** A chain, and when the kubelet should begin its renewal, in milliseconds by the API server's clock. */
interface IssuedToPod extends IssuedChain {
  readonly proof: Proof | undefined;
  readonly beginRefreshAt: number;
}

/** The one rule for pods has no name of its own. */
const RULE = 'spec.pods.allow';

/** Carries out what {@link decide} plans for PodCertificateRequests. */
export function createActor<S extends SignerObject>(
  init: PodActorInit<S>,
): Redelivery<PodCertificateRequest, S> {
  const { component, reader, renewals } = init;
  const { random, reservedPrefixes } = component;
  return createRedelivery<PodCertificateRequest, S, IssuedToPod, PodEvidence | undefined>({
    ...init,
    askedOf: askedOfPod,
    flowOf: namespaceFlow,
    gather: (request, signer) => reader.gather(request, signer),
    confirm: (_request, { proof }) => reader.confirm(proof),
    onDelivered: (request, { proof, validity }) => {
      if (proof !== undefined) reader.delivered(request, proof, validity.notAfter);
    },
    decide: (request, signer, moment) => {
      const { authority, now, evidence } = moment;
      const profile = init.profileOf(signer);
      const snapshot = { request, profile, evidence, authority, reservedPrefixes, now, random };
      const plan = decide(snapshot);
      if (profile.pods?.readsPod === true) reader.decided(request, plan);
      if (plan.kind === 'reread') return reread(moment, init.legacy);
      if (plan.kind !== 'issue')
        return carriedOut(request, plan, now, renewals.replaces(request, now));
      const completed = (chain: IssuedChain): IssuedToPod =>
        issuedToPod(plan, chain, profile, random);
      const proven = init.recordsProofs === true ? provenBy(plan.proof) : undefined;
      return { kind: 'issue', leaf: plan, completed, rule: RULE, proven };
    },
    refused: (request, why, now) => denied(request, why, now, renewals.replaces(request, now)),
    isFinished: isTerminal,
    withIssued: (request, { chain, validity, beginRefreshAt }, now) =>
      withIssued(request, { chainPem: chain, ...validity, beginRefreshAt }, now),
    chainOf: ({ status }) => status?.certificateChain,
    deliverableSince: ({ validity }) => validity.notBefore,
    bodyOf: (request) => ({ body: podStatusBody(request), contentType: PROTOBUF }),
    // No condition can be written before the final one. No request fails by age: the kubelet asks again.
    notIssued: (_request, held) => ({ ...NOTHING, outcome: outcomeOf(held, component.clock()) }),
  });
}

/** What the ledger is told, so that it can be asked which names are no longer theirs. What nobody would keep is not told. */
function provenBy(proof: Proof | undefined): ProvenBy | undefined {
  if (proof === undefined || proof.services.length === 0) return undefined;
  const { labels = {} } = proof.pod.metadata;
  const services = proof.services.map(({ metadata }) => metadata.name);
  return isKept({ services, labels }) ? { services, labels } : undefined;
}

/** An external CA may issue a shorter validity than was planned. */
function issuedToPod(
  { validity: planned, beginRefreshAt, proof }: Extract<PodPlan, { kind: 'issue' }>,
  chain: IssuedChain,
  { pods }: Profile,
  random: Random,
): IssuedToPod {
  const { validity } = chain;
  const asPlanned =
    validity.notBefore === planned.notBefore && validity.notAfter === planned.notAfter;
  return {
    ...chain,
    proof,
    beginRefreshAt:
      asPlanned || pods === undefined
        ? beginRefreshAt
        : refreshTime(validity, pods.refreshAfterPercent, random),
  };
}

/** A request of an old kubelet has its key in v1beta1 only. */
function reread(
  { via }: Pick<Moment, 'via'>,
  legacy: Resource | undefined,
): Decision<never, never> {
  // Read through v1beta1 and still without a key: to read it again would never end.
  if (legacy !== undefined && via !== legacy) return { kind: 'reread', via: legacy };
  const error = new SignerError({
    code: 'REQUEST_MALFORMED',
    disposition: 'wait',
    message:
      'the request has an empty stub PKCS#10 request; it was written through v1beta1, which this API server does not serve',
  });
  return { kind: 'wait', error };
}

/** By a Revocation: the end, as for every denial. */
function denied(
  request: PodCertificateRequest,
  why: HolderRefusal,
  now: number,
  expiresAt: number | undefined,
): Settlement<PodCertificateRequest> {
  return answered(request, { kind: 'deny', ...why }, now, expiresAt);
}

function carriedOut(
  request: PodCertificateRequest,
  plan: Exclude<PodPlan, { kind: 'issue' | 'reread' }>,
  now: number,
  expiresAt: number | undefined,
): Decision<PodCertificateRequest, never> {
  if (plan.kind === 'ignore') return NOTHING;
  if (plan.kind === 'wait') return plan;
  return { kind: 'settle', ...answered(request, plan, now, expiresAt) };
}

/** @param expiresAt - of the certificate that this would have renewed, in milliseconds */
function answered(
  request: PodCertificateRequest,
  plan: Extract<PodPlan, { kind: 'deny' | 'fail' }>,
  now: number,
  expiresAt: number | undefined,
): Settlement<PodCertificateRequest> {
  const { reason, message } = plan;
  // The kubelet takes a Denied or Failed request for permanent (podcertificatemanager.go).
  const note = `${message}; ${lossText(expiresAt, now)}once that is mended, delete the pod: its kubelet does not ask again`;
  const event = { type: 'Warning', reason, action: 'Issue', note } as const;
  const [outcome, write] =
    plan.kind === 'deny'
      ? (['denied', withDenied(request, plan, now)] as const)
      : (['failed', withFailed(request, plan, now)] as const);
  return { write, ends: true, outcome: { outcome, reason, message, event } };
}

/** What a renewal that is refused costs, and when. */
function lossText(expiresAt: number | undefined, now: number): string {
  if (expiresAt === undefined) return '';
  const left = formatDuration(Math.floor((expiresAt - now) / 1000));
  return `this was a renewal: the pod's certificate expires in ${left}, at ${formatTime(expiresAt)}; `;
}
