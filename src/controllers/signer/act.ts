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
import { correspond } from '../../issuance/correspond.ts';
import { prepare } from '../../issuance/prepare.ts';
import type { Profile } from '../../issuance/profile.ts';
import { absent } from '../../kube/absent.ts';
import { withoutManagedFields } from '../../kube/managed-fields.ts';
import type { Resource } from '../../kube/resource.ts';
import { decodeCertificate } from '../../pki/certificate.ts';
import { encodePem } from '../../pki/pem.ts';
import type { Component } from '../../serving/component.ts';
import { groundsOf } from '../../serving/grounds.ts';
import type { Outcome } from '../../serving/outcome.ts';
import { decide, type Plan } from './decide.ts';

export interface ActInit {
  readonly component: Component;
  readonly resource: Resource;
  readonly profileOf: (signer: ClusterSigner) => Profile;
  /** @throws SignerError */
  readonly authorityOf: (signer: ClusterSigner) => Authority;
}

interface Undelivered {
  readonly uid: string;
  readonly pem: string;
  readonly signedAt: number;
  readonly grounds: string | undefined;
}

/**
 * How long a leaf waits for its delivery: an outage of the API server is shorter. Later it might be
 * expired, and the API server would take it all the same.
 */
const RESEND_WINDOW_MS = 5 * 60_000;

/** Carries plans out: one PUT a request, fenced by resourceVersion; one signature a request. */
export function createActor(init: ActInit): {
  readonly handle: (csr: CertificateSigningRequest, signer: ClusterSigner) => Promise<Outcome>;
  /** The request of that name is gone. */
  readonly forget: (name: string) => void;
} {
  const { component, resource } = init;
  /** Name → what was signed and may or may not have landed. Owned by this closure. */
  const undelivered = new Map<string, Undelivered>();

  async function handle(csr: CertificateSigningRequest, signer: ClusterSigner): Promise<Outcome> {
    const pending = undelivered.get(csr.metadata.name);
    if (pending?.uid === csr.metadata.uid) return redeliver(csr, signer, pending);
    return answer(csr, signer);
  }

  async function answer(csr: CertificateSigningRequest, signer: ClusterSigner): Promise<Outcome> {
    const authority = attempt(() => init.authorityOf(signer));
    const profile = init.profileOf(signer);
    const plan = decide({
      csr,
      profile,
      authority: authority instanceof SignerError ? authority : authority.facts,
      reservedPrefixes: component.reservedPrefixes,
      now: component.clock(),
    });
    if (plan.kind !== 'issue') return settle(csr, plan);
    if (authority instanceof SignerError) throw authority;
    const { name, uid } = csr.metadata;
    const pem = await sign(uid, plan, authority);
    const grounds = groundsOf(signer, authority);
    undelivered.set(name, { uid, pem, signedAt: component.clock(), grounds });
    return deliver(csr, pem);
  }

  async function sign(
    uid: string,
    plan: Extract<Plan, { kind: 'issue' }>,
    authority: Authority,
  ): Promise<string> {
    const { facts } = authority;
    const prepared = prepare({ ...plan, issuer: facts, random: component.random });
    const { intermediates, anchors } = facts;
    prepared.requirePath({ intermediates, anchors }, component.clock());
    const der = await authority.sign(prepared, new AbortController().signal);
    const leaf = decodeCertificate(der);
    correspond(prepared, { leaf, ...facts }, component.clock());
    // Before anything is sent: whoever counts what was signed in vain counts these.
    const serial = Buffer.from(leaf.serial).toString('hex');
    component.log.debug({ uid, serial }, 'signed');
    return [leaf, ...facts.intermediates]
      .map((each) => encodePem('CERTIFICATE', each.raw))
      .join('');
  }

  async function deliver(csr: CertificateSigningRequest, pem: string): Promise<Outcome> {
    const written = await put(withCertificate(csr, pem));
    undelivered.delete(csr.metadata.name);
    return { outcome: 'issued', reason: 'Issued', written };
  }

  /** An earlier write may have landed: a fresh look, not the cache, says so. */
  async function redeliver(
    csr: CertificateSigningRequest,
    signer: ClusterSigner,
    { uid, pem, signedAt, grounds }: Undelivered,
  ): Promise<Outcome> {
    const fresh = await component.client
      .request<CertificateSigningRequest>({ method: 'GET', path: resource.object(csr.metadata) })
      .catch(absent);
    if (fresh?.metadata.uid !== uid || isFinished(fresh))
      return ended(csr.metadata.name, fresh, pem);
    const current = attempt(() => init.authorityOf(signer));
    const recent = component.clock() - signedAt < RESEND_WINDOW_MS;
    if (recent && groundsOf(signer, current) === grounds) return deliver(fresh, pem);
    // An earlier write that is still under way cannot land beside a new one: the version fences both.
    undelivered.delete(csr.metadata.name);
    return answer(fresh, signer);
  }

  function ended(name: string, fresh: CertificateSigningRequest | undefined, pem: string): Outcome {
    undelivered.delete(name);
    const landed = Buffer.from(fresh?.status?.certificate ?? '', 'base64').toString() === pem;
    return fresh !== undefined && landed
      ? { outcome: 'issued', reason: 'Issued', written: fresh }
      : { outcome: 'ignored', reason: 'Gone' };
  }

  async function settle(
    csr: CertificateSigningRequest,
    plan: Exclude<Plan, { kind: 'issue' }>,
  ): Promise<Outcome> {
    if (plan.kind === 'ignore') return { outcome: 'ignored', reason: '' };
    if (plan.kind === 'wait') throw plan.error;
    const written = await put(withFailed(csr, plan, component.clock()));
    return {
      outcome: 'failed',
      reason: plan.reason,
      message: plan.message,
      written,
      event: { type: 'Warning', reason: plan.reason, action: 'Sign', note: plan.message },
    };
  }

  function put(csr: CertificateSigningRequest): Promise<CertificateSigningRequest> {
    return component.client.request<CertificateSigningRequest>({
      method: 'PUT',
      path: resource.object(csr.metadata, 'status'),
      body: withoutManagedFields(csr),
    });
  }

  return { handle, forget: (name) => undelivered.delete(name) };
}
