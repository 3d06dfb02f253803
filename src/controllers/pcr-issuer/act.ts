// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import {
  withDenied,
  withFailed,
  withIssued,
  isTerminal,
  type Issued,
  type PodCertificateRequest,
} from '../../api/request/pod-certificate-request.ts';
import { keyOf, METADATA_ALONE, readPartialObjectMetadata } from '../../api/object/object.ts';
import { PROTOBUF } from '../../protobuf/envelope.ts';
import { podStatusBody } from '../../api/request/pod-certificate-request-message.ts';
import { SignerError, attempt } from '../../errors.ts';
import type { Profile } from '../../issuance/profile.ts';
import { refreshTime } from '../../issuance/validity.ts';
import { absent } from '../../kube/client/absent.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { Component } from '../../runtime/component/component.ts';
import { groundsOf } from '../../runtime/issuing/grounds.ts';
import type { Chain, Issuing } from '../../runtime/issuing/issuing.ts';
import type { Outcome } from '../../runtime/requests/outcome.ts';
import { requireClocks, serverTime } from '../../runtime/component/server-time.ts';
import { createUndelivered } from '../../runtime/issuing/undelivered.ts';
import { decide } from './decide.ts';
import { afterHeld } from './held.ts';
import type { Plan } from './plan.ts';

export interface ActInit<S> {
  readonly component: Component;
  readonly resource: Resource;
  /** v1beta1, where the server has it besides v1: what old kubelets write is whole only there. */
  readonly legacy: Resource | undefined;
  readonly profileOf: (signer: S) => Profile;
  /** @throws SignerError */
  readonly issuingOf: (signer: S) => Issuing<PodCertificateRequest>;
}

/** The API server takes a notBefore within five minutes of its time only (validation.go, timeNear). */
const RESEND_WINDOW_MS = 5 * 60_000;

interface SignedLeaf {
  readonly uid: string;
  readonly issued: Issued;
  readonly grounds: string | undefined;
}

/**
 * Carries plans out. One PUT a request, fenced by resourceVersion; what was signed for a request is
 * kept until it is delivered, so that a lost answer never leads to a second signature.
 */
export function createActor<S extends SignerObject>(
  init: ActInit<S>,
): {
  readonly handle: (request: PodCertificateRequest, signer: S) => Promise<Outcome>;
  /** The request `namespace/name` is gone. */
  readonly forget: (key: string) => void;
} {
  const { component } = init;
  /** `namespace/name` → what was signed and may or may not have landed. Owned by this closure. */
  const undelivered = createUndelivered<SignedLeaf>();

  async function handle(
    request: PodCertificateRequest,
    signer: S,
    resource: Resource = init.resource,
  ): Promise<Outcome> {
    const path = resource.object(request.metadata);
    await requireClocks(component, () =>
      component.client.request({ method: 'GET', path }).catch(absent),
    );
    const pending = undelivered.get(keyOf(request.metadata));
    if (pending?.uid !== request.metadata.uid) return answer(request, signer, resource);
    const fresh = await land(resource, request, pending.issued);
    if (fresh.kind === 'ended') return fresh.outcome;
    if (isDeliverable(pending, signer)) return deliver(resource, fresh.request, pending.issued);
    // An earlier write still under way cannot land beside a new one: the version fences both.
    undelivered.delete(keyOf(request.metadata));
    return answer(fresh.request, signer, resource);
  }

  async function answer(
    request: PodCertificateRequest,
    signer: S,
    resource: Resource,
  ): Promise<Outcome> {
    const issuing = attempt(() => init.issuingOf(signer));
    const profile = init.profileOf(signer);
    const plan = decide({
      request,
      profile,
      authority: issuing instanceof SignerError ? issuing : issuing.validity,
      reservedPrefixes: component.reservedPrefixes,
      now: serverTime(component),
      random: component.random,
    });
    if (plan.kind === 'reread') return reread(resource, request, signer);
    if (plan.kind !== 'issue') return settle(resource, request, plan);
    if (issuing instanceof SignerError) throw issuing;
    const { uid } = request.metadata;
    const answered = await issuing.issue({ ...plan, usages: profile.usages }, request);
    if (answered.kind === 'held') return afterHeld(answered, component.clock());
    const issued = issuedOf(plan, profile, answered);
    const grounds = groundsOf(signer, issuing);
    undelivered.set(keyOf(request.metadata), { uid, issued, grounds });
    return deliver(resource, request, issued);
  }

  /** Young enough for the API server to take it, and its grounds are what they were. */
  function isDeliverable({ issued, grounds }: SignedLeaf, signer: S): boolean {
    const issuing = attempt(() => init.issuingOf(signer));
    return (
      Math.abs(serverTime(component) - issued.notBefore) < RESEND_WINDOW_MS &&
      groundsOf(signer, issuing) === grounds
    );
  }

  /** A CA that is not ours may have given less time than was planned with. */
  function issuedOf(
    plan: Extract<Plan, { kind: 'issue' }>,
    profile: Profile,
    { chain, validity }: Chain,
  ): Issued {
    const { notBefore, notAfter } = validity;
    const asPlanned = notBefore === plan.validity.notBefore && notAfter === plan.validity.notAfter;
    const beginRefreshAt =
      asPlanned || profile.pods === undefined
        ? plan.beginRefreshAt
        : refreshTime(validity, profile.pods.refreshAfterPercent, component.random);
    return { chainPem: chain, notBefore, notAfter, beginRefreshAt };
  }

  async function deliver(
    resource: Resource,
    request: PodCertificateRequest,
    issued: Issued,
  ): Promise<Outcome> {
    const written = await put(resource, withIssued(request, issued, serverTime(component)));
    undelivered.delete(keyOf(request.metadata));
    return { outcome: 'issued', reason: 'Issued', written };
  }

  /** An earlier write may have landed: a fresh look, not the cache, says so. */
  async function land(
    resource: Resource,
    request: PodCertificateRequest,
    issued: Issued,
  ): Promise<
    { kind: 'ended'; outcome: Outcome } | { kind: 'open'; request: PodCertificateRequest }
  > {
    const path = resource.object(request.metadata);
    const fresh = await component.client
      .request<PodCertificateRequest>({ method: 'GET', path })
      .catch(absent);
    const gone = fresh === undefined || fresh.metadata.uid !== request.metadata.uid;
    if (!gone && !isTerminal(fresh)) return { kind: 'open', request: fresh };
    undelivered.delete(keyOf(request.metadata));
    const ours = !gone && fresh.status?.certificateChain === issued.chainPem;
    return {
      kind: 'ended',
      outcome: ours
        ? { outcome: 'issued', reason: 'Issued', written: fresh }
        : { outcome: 'ignored', reason: 'Gone' },
    };
  }

  async function reread(
    from: Resource,
    request: PodCertificateRequest,
    signer: S,
  ): Promise<Outcome> {
    // Read through v1beta1 and still without a key: to read it again would never end.
    if (init.legacy === undefined || from === init.legacy) {
      throw new SignerError({
        code: 'REQUEST_MALFORMED',
        disposition: 'wait',
        message:
          'the request has an empty stub PKCS#10 request; it was written through v1beta1, which this API server does not serve',
      });
    }
    const whole = await component.client.request<PodCertificateRequest>({
      method: 'GET',
      path: init.legacy.object(request.metadata),
    });
    // Made anew under the same name, perhaps of another signer: its own watch brings it.
    if (whole.metadata.uid !== request.metadata.uid) return { outcome: 'ignored', reason: 'Gone' };
    return handle(whole, signer, init.legacy);
  }

  async function settle(
    resource: Resource,
    request: PodCertificateRequest,
    plan: Exclude<Plan, { kind: 'issue' | 'reread' }>,
  ): Promise<Outcome> {
    if (plan.kind === 'ignore') return { outcome: 'ignored', reason: '' };
    if (plan.kind === 'wait') throw plan.error;
    const now = serverTime(component);
    const end =
      plan.kind === 'deny' ? withDenied(request, plan, now) : withFailed(request, plan, now);
    const written = await put(resource, end);
    return {
      outcome: plan.kind === 'deny' ? 'denied' : 'failed',
      reason: plan.reason,
      message: plan.message,
      written,
      event: { type: 'Warning', reason: plan.reason, action: 'Issue', note: plan.message },
    };
  }

  async function put(
    resource: Resource,
    request: PodCertificateRequest,
  ): Promise<PodCertificateRequest> {
    const { metadata } = await component.client.request<Pick<PodCertificateRequest, 'metadata'>>({
      method: 'PUT',
      path: resource.object(request.metadata, 'status'),
      body: podStatusBody(request),
      contentType: PROTOBUF,
      accept: METADATA_ALONE,
      read: readPartialObjectMetadata,
    });
    return { ...request, metadata };
  }

  return {
    handle: (request, signer) => handle(request, signer),
    forget: (key) => undelivered.delete(key),
  };
}
