// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../api/cluster-signer.ts';
import { keyOf, type KubeObject } from '../api/object.ts';
import type { Authority } from '../authorities/contract.ts';
import { attempt } from '../errors.ts';
import { correspond } from '../issuance/correspond.ts';
import { prepare, type PrepareInput } from '../issuance/prepare.ts';
import { absent } from '../kube/absent.ts';
import { withoutManagedFields } from '../kube/managed-fields.ts';
import type { Resource } from '../kube/resource.ts';
import { decodeCertificate } from '../pki/certificate.ts';
import { encodePem } from '../pki/pem.ts';
import type { Component } from './component.ts';
import { groundsOf } from './grounds.ts';
import type { Outcome } from './outcome.ts';
import { requireClocks, serverTime } from './server-time.ts';

/** What is delivered, as PEM. */
export interface SignedLeaf {
  /** Leaf first, without the root. */
  readonly chain: string;
  /** The anchors that it leads to. */
  readonly anchors: string;
}

/** What of a leaf was decided; the rest is the CA's. */
export type LeafPlan = Pick<PrepareInput, 'subject' | 'publicKey' | 'usages' | 'validity'>;

export interface SignOnceInit<T> {
  readonly component: Component;
  readonly resource: Resource;
  /** @throws SignerError */
  readonly authorityOf: (signer: ClusterSigner) => Authority;
  /** Nobody may add to it any more. */
  readonly isFinished: (request: T) => boolean;
  /** The object for PUT /status that delivers a leaf. */
  readonly withLeaf: (request: T, leaf: SignedLeaf) => T;
  /** base64 of the chain's PEM, where it has one. */
  readonly certificateOf: (request: T) => string | undefined;
}

/** One signature and one write a request, however often its delivery has to be tried. */
export interface SignOnce<T> {
  /**
   * Delivers what was signed for this request before, if it still may be; else `answer` decides, on a
   * copy that is as fresh as need be. Neither while the clocks contradict each other.
   */
  readonly handle: (
    request: T,
    signer: ClusterSigner,
    answer: (request: T) => Promise<Outcome>,
  ) => Promise<Outcome>;
  /** Signs, remembers, delivers. */
  readonly issue: (
    request: T,
    signer: ClusterSigner,
    plan: LeafPlan,
    authority: Authority,
  ) => Promise<Outcome>;
  /** Writes a status, fenced by resourceVersion. @returns the request as it then is */
  readonly put: (request: T) => Promise<T>;
  /** The request `namespace/name` is gone. */
  readonly forget: (key: string) => void;
}

interface Undelivered {
  readonly uid: string;
  readonly leaf: SignedLeaf;
  readonly signedAt: number;
  readonly grounds: string | undefined;
}

/**
 * How long a leaf waits for its delivery: an outage of the API server is shorter. Later it might be
 * expired, and the API server would take it all the same.
 */
const RESEND_WINDOW_MS = 5 * 60_000;

export function createSignOnce<T extends KubeObject>(init: SignOnceInit<T>): SignOnce<T> {
  const { component, resource } = init;
  /** Key → what was signed and may or may not have landed. Owned by this closure. */
  const undelivered = new Map<string, Undelivered>();

  async function sign(uid: string, plan: LeafPlan, authority: Authority): Promise<SignedLeaf> {
    const { facts } = authority;
    const prepared = prepare({ ...plan, issuer: facts, random: component.random });
    const { intermediates, anchors } = facts;
    prepared.requirePath({ intermediates, anchors }, serverTime(component));
    const der = await authority.sign(prepared, new AbortController().signal);
    const leaf = decodeCertificate(der);
    correspond(prepared, { leaf, ...facts }, serverTime(component));
    // Before anything is sent: whoever counts what was signed in vain counts these.
    const serial = Buffer.from(leaf.serial).toString('hex');
    component.log.debug({ uid, serial }, 'signed');
    const pem = ({ raw }: { readonly raw: Uint8Array }): string => encodePem('CERTIFICATE', raw);
    return {
      chain: [leaf, ...intermediates].map(pem).join(''),
      anchors: anchors.map(pem).join(''),
    };
  }

  async function deliver(request: T, leaf: SignedLeaf): Promise<Outcome> {
    const written = await put(init.withLeaf(request, leaf));
    undelivered.delete(keyOf(request.metadata));
    return { outcome: 'issued', reason: 'Issued', written };
  }

  function ended(key: string, fresh: T | undefined, { chain }: SignedLeaf): Outcome {
    undelivered.delete(key);
    const certificate = fresh === undefined ? undefined : init.certificateOf(fresh);
    const landed = Buffer.from(certificate ?? '', 'base64').toString('latin1') === chain;
    return fresh !== undefined && landed
      ? { outcome: 'issued', reason: 'Issued', written: fresh }
      : { outcome: 'ignored', reason: 'Gone' };
  }

  function look({ metadata }: T): Promise<T | undefined> {
    const path = resource.object(metadata);
    return component.client.request<T>({ method: 'GET', path }).catch(absent);
  }

  function put(request: T): Promise<T> {
    return component.client.request<T>({
      method: 'PUT',
      path: resource.object(request.metadata, 'status'),
      body: withoutManagedFields(request),
    });
  }

  return {
    put,
    forget: (key) => {
      undelivered.delete(key);
    },
    issue: async (request, signer, plan, authority) => {
      const { uid } = request.metadata;
      const leaf = await sign(uid, plan, authority);
      const grounds = groundsOf(signer, authority);
      undelivered.set(keyOf(request.metadata), {
        uid,
        leaf,
        signedAt: serverTime(component),
        grounds,
      });
      return deliver(request, leaf);
    },
    /** An earlier write may have landed: a fresh look, not the cache, says so. */
    handle: async (request, signer, answer) => {
      await requireClocks(component, () => look(request));
      const key = keyOf(request.metadata);
      const pending = undelivered.get(key);
      if (pending?.uid !== request.metadata.uid) return answer(request);
      const { uid, leaf, signedAt, grounds } = pending;
      const fresh = await look(request);
      if (fresh?.metadata.uid !== uid || init.isFinished(fresh)) return ended(key, fresh, leaf);
      const current = attempt(() => init.authorityOf(signer));
      // Either way: it may have been signed by a clock that has been set since.
      const recent = Math.abs(serverTime(component) - signedAt) < RESEND_WINDOW_MS;
      if (recent && groundsOf(signer, current) === grounds) return deliver(fresh, leaf);
      // An earlier write that is still under way cannot land beside a new one: the version fences both.
      undelivered.delete(key);
      return answer(fresh);
    },
  };
}
