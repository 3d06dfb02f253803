// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import {
  isTerminal,
  withIssued,
  type PodCertificateRequest,
} from '#api/request/pod-certificate-request.ts';
import { podStatusBody } from '#api/request/pod-certificate-request-message.ts';
import type { Profile } from '#ca/issuance/profile.ts';
import { refreshTime } from '#ca/issuance/validity.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { SignerError } from '#base/errors.ts';
import type { Random } from '#base/ports.ts';
import { PROTOBUF } from '#kube/protobuf/envelope.ts';
import { charged, namespaceFlow } from '#component/cpu-accounting.ts';
import { serverTime } from '#component/server-time.ts';
import { traced } from '#component/tracing.ts';
import { factsOfPodRequest, type ProvenBy } from '../recording/request-record.ts';
import type { RequestActorInit, RequestActor } from '../issuing/actor.ts';
import { Deliveries, GONE, type KeptLeaf } from '../issuing/deliveries.ts';
import { caOf, issueLeaf, type CaNow } from '../issuing/issue.ts';
import type { IssuedChain } from '../issuing/issuing-ca.ts';
import { appendRecord, recordEnd, recordOf } from '../issuing/record.ts';
import { readStored } from '../issuing/stored-request.ts';
import { requireDeliverable, reusableLeaf, signingContextOf } from '../issuing/deliverable.ts';
import { IGNORED, issued, type RequestOutcome } from '../loop/outcome.ts';
import { writeSubresource, type SubresourceWrite } from '../loop/subresource-write.ts';
import { decide, type PodDecisionInput } from './decide.ts';
import { refused } from './refused.ts';
import { hasKey } from './requested-key.ts';
import { outcomeOf } from './waiting-for-ca.ts';
import type { Proof } from './evidence/evidence.ts';
import { isKept } from './evidence/outdated-names.ts';
import type { PodReader } from './evidence/pod-reader.ts';
import type { PodPlan } from './plan.ts';
import type { Renewals } from './renewals.ts';

export interface PodActorInit<S> extends RequestActorInit<PodCertificateRequest, S> {
  /**
   * v1beta1, if the server has it besides v1. Only v1beta1 shows everything that old kubelets
   * write.
   */
  readonly legacy: Resource | undefined;
  readonly profileOf: (signer: S) => Profile;
  /** Reads pods and Services for signers that need them. */
  readonly reader: PodReader;
  /** True if records name the Services that proved a name. */
  readonly recordsProofs?: boolean;
  /** Certificates that pods already have. */
  readonly renewals: Pick<Renewals, 'replaces'>;
}

interface PodActor<S> extends PodActorInit<S> {
  readonly deliveries: Deliveries<PodCertificateRequest, IssuedToPod>;
}

/**
 * A chain, and when the kubelet should begin its renewal, in milliseconds by the API server's
 * clock.
 */
interface IssuedToPod extends IssuedChain {
  readonly proof: Proof | undefined;
  readonly beginRefreshAt: number;
}

/** A request, and the API version through which it was read. */
interface VersionedRequest {
  readonly request: PodCertificateRequest;
  readonly via: Resource;
}

/** Name of the single rule for pods. */
const RULE = 'spec.pods.allow';

/** Issues, denies and fails PodCertificateRequests. */
export function createActor<S extends SignerObject>(
  init: PodActorInit<S>,
): RequestActor<PodCertificateRequest, S> {
  const deliveries = new Deliveries<PodCertificateRequest, IssuedToPod>(init.component);
  const actor: PodActor<S> = { ...init, deliveries };
  return {
    handle: (request, signer) => answer(actor, request, signer),
    forget: deliveries.forget,
  };
}

/** Handles a PodCertificateRequest from the cached object to its outcome. */
async function answer<S extends SignerObject>(
  actor: PodActor<S>,
  seen: PodCertificateRequest,
  signer: S,
): Promise<RequestOutcome> {
  const { component, cas, deliveries } = actor;

  const read = await deliveries.read(seen, actor.resource, isTerminal);
  if ('outcome' in read) return read.outcome;
  const earlier = reusableLeaf(actor, read, signer);
  if (earlier !== undefined)
    return deliver(actor, { ...read, via: actor.resource }, signer, earlier);
  const whole = await readWhole(actor, read.request);
  if (whole === undefined) return GONE;
  const { request, via } = whole;

  const { ca, authority, plan, profile } = await decided(actor, request, signer);
  if (plan.kind === 'wait') {
    noteWait(actor, request, profile, plan.error);
    throw plan.error;
  }
  if (plan.kind !== 'issue') return refuse(actor, whole, signer, plan);
  if (ca === undefined) throw authority;

  const asked = factsOfPodRequest(request, signer);
  const refusal = cas.refusalOf?.(signer, { requester: asked.requester, leaf: plan });
  if (refusal !== undefined) return refuse(actor, whole, signer, { kind: 'deny', ...refusal });
  const chain = await issueLeaf(component, ca, plan, request);
  // The API allows no condition before the final one. A request never fails by age, since the
  // kubelet creates a new one.
  if (chain.kind === 'notIssued') return outcomeOf(chain, component.clock());
  const toPod = issuedToPod(plan, chain, profile, component.random);
  const proven = provenBy(actor, plan.proof);
  const leaf = deliveries.keep(request, via, {
    template: plan,
    requester: asked.requester,
    issued: toPod,
    since: toPod.validity.notBefore,
    signingContext: signingContextOf(signer, ca),
    record: recordOf(component, asked, { ca, rule: RULE, proven }, chain),
  });
  return deliver(actor, whole, signer, leaf);
}

/** Reports a waiting request to the reader, if its profile reads pods. */
function noteWait<S>(
  { reader }: PodActor<S>,
  request: PodCertificateRequest,
  { pods }: Profile,
  reason: SignerError,
): void {
  if (pods?.readsPod === true) reader.waits(request, reason);
}

/** A plan, and the profile and the CA of the signer at that moment. */
type Decision = CaNow<PodCertificateRequest> & {
  readonly plan: PodPlan;
  readonly profile: Profile;
};

/**
 * Decides the request. The watch of Services and the API server's cache may be late, so a denial
 * over names of Services is decided again by what is stored.
 */
async function decided<S extends SignerObject>(
  actor: PodActor<S>,
  request: PodCertificateRequest,
  signer: S,
): Promise<Decision> {
  const gather = <E>(read: () => Promise<E>): Promise<E> =>
    traced(actor.component, 'gather evidence', read);
  const { reader } = actor;
  const first = planOf(actor, signer, request, await gather(() => reader.gather(request, signer)));
  const { plan, profile } = first;
  const isNotAllowed = plan.kind === 'deny' && plan.reason === 'NotAllowed';
  if (!isNotAllowed || profile.pods?.services === undefined) return first;
  return planOf(actor, signer, request, await gather(() => reader.gatherStored(request)));
}

/** Decides the request by this evidence, and charges its namespace for the time. */
function planOf<S extends SignerObject>(
  { component, cas, profileOf }: PodActor<S>,
  signer: S,
  request: PodCertificateRequest,
  evidence: PodDecisionInput['evidence'],
): Decision {
  const { reservedPrefixes, random } = component;
  const by = caOf(cas, signer);
  const known = { request, evidence, authority: by.authority, reservedPrefixes, random };
  const now = serverTime(component);
  return charged(component, namespaceFlow(request), () => {
    const profile = profileOf(signer);
    return { ...by, profile, plan: decide({ ...known, profile, now }) };
  });
}

/** Completes a request with a leaf: records it, confirms its proof, delivers and reports it. */
async function deliver<S extends SignerObject>(
  actor: PodActor<S>,
  { request, via }: VersionedRequest,
  signer: S,
  leaf: KeptLeaf<IssuedToPod>,
): Promise<RequestOutcome> {
  const { component, deliveries, reader } = actor;
  const { chain, validity, beginRefreshAt, proof } = leaf.issued;
  await appendRecord(component, leaf.record);
  const changed = proof && (await reader.confirm(proof));
  if (changed !== undefined) {
    deliveries.drop(request);
    throw changed;
  }
  requireDeliverable(actor, { request, leaf }, signer);
  const status = { chainPem: chain, ...validity, beginRefreshAt };
  const answered = withIssued(request, status, serverTime(component));
  const written = await deliveries.write(leaf, answered, statusWrite(answered, via));
  if (proof !== undefined) reader.delivered(request, proof, validity.notAfter);
  return issued(written);
}

/** Completes a request without a leaf: records it, writes once, reports it. */
async function refuse<S extends SignerObject>(
  { component, renewals }: PodActor<S>,
  { request, via }: VersionedRequest,
  signer: S,
  plan: Extract<PodPlan, { kind: 'ignore' | 'deny' | 'fail' }>,
): Promise<RequestOutcome> {
  if (plan.kind === 'ignore') return IGNORED;
  const now = serverTime(component);
  const { answered, outcome } = refused(request, plan, now, renewals.replaces(request, now));
  await recordEnd(component, factsOfPodRequest, { request, signer }, outcome);
  const write = statusWrite(answered, via);
  return { ...outcome, written: await writeSubresource(component.client, answered, write) };
}

/**
 * Reads the request of an old kubelet once through v1beta1, since v1 lacks its key.
 *
 * @returns undefined if the name has another request now. The watch of its signer delivers that
 * one.
 */
async function readWhole<S>(
  { component, resource, legacy }: PodActor<S>,
  request: PodCertificateRequest,
): Promise<VersionedRequest | undefined> {
  if (legacy === undefined || hasKey(request) || isTerminal(request))
    return { request, via: resource };
  const path = legacy.object(request.metadata);
  const whole = await readStored<PodCertificateRequest>(component.client, path);
  return whole?.metadata.uid === request.metadata.uid ? { request: whole, via: legacy } : undefined;
}

function statusWrite(answered: PodCertificateRequest, via: Resource): SubresourceWrite {
  const path = via.object(answered.metadata, 'status');
  return { path, body: podStatusBody(answered), contentType: PROTOBUF };
}

/**
 * Returns the proof for the ledger, which later shows outdated names. Omits a proof that is too
 * large to be kept.
 */
function provenBy<S>(
  { recordsProofs }: PodActor<S>,
  proof: Proof | undefined,
): ProvenBy | undefined {
  if (recordsProofs !== true || proof === undefined || proof.services.length === 0)
    return undefined;
  const { labels = {} } = proof.pod.metadata;
  const services = proof.services.map(({ metadata }) => metadata.name);
  return isKept({ services, labels }) ? { services, labels } : undefined;
}

/** Recomputes the renewal time if an external CA issued another validity than planned. */
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
