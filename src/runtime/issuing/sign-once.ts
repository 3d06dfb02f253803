// SPDX-License-Identifier: Apache-2.0
import {
  asWritten,
  keyOf,
  type KubeObject,
  METADATA_ALONE,
  readPartialObjectMetadata,
} from '../../api/object/object.ts';
import { attempt } from '../../errors.ts';
import { absent } from '../../kube/client/absent.ts';
import { withoutManagedFields } from '../../kube/resource/managed-fields.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { Component } from '../component/component.ts';
import { groundsOf } from './grounds.ts';
import type { Chain, Held, Issuing, Wanted } from './issuing.ts';
import type { Outcome } from '../requests/outcome.ts';
import { requireClocks, serverTime } from '../component/server-time.ts';
import { createUndelivered } from './undelivered.ts';

export interface SignOnceInit<T, S> {
  readonly component: Component;
  readonly resource: Resource;
  /** @throws SignerError */
  readonly issuingOf: (signer: S) => Issuing<T>;
  /** Nobody may add to it any more. */
  readonly isFinished: (request: T) => boolean;
  /** The object for PUT /status that delivers a leaf. */
  readonly withLeaf: (request: T, leaf: Chain) => T;
  /** The body of a PUT to /status, where less than the object will do. */
  readonly bodyOf?: (request: T) => object;
  /** base64 of the chain's PEM, where it has one. */
  readonly certificateOf: (request: T) => string | undefined;
  /** What becomes of a request that the CA gave no chain for. */
  readonly hold: (request: T, held: Held) => Promise<Outcome>;
}

/** One signature and one write a request, however often its delivery has to be tried. */
export interface SignOnce<T, S> {
  /**
   * Delivers what was signed for this request before, if it still may be; else `answer` decides, on a
   * copy that is as fresh as need be. Neither while the clocks contradict each other.
   */
  readonly handle: (
    request: T,
    signer: S,
    answer: (request: T) => Promise<Outcome>,
  ) => Promise<Outcome>;
  /** Asks the CA for a chain, remembers it, delivers it. */
  readonly issue: (request: T, signer: S, wanted: Wanted, issuing: Issuing<T>) => Promise<Outcome>;
  /** Writes a status, fenced by resourceVersion. @returns the request as it then is */
  readonly put: (request: T) => Promise<T>;
  /** The request `namespace/name` is gone. */
  readonly forget: (key: string) => void;
}

interface Remembered {
  readonly uid: string;
  readonly leaf: Chain;
  readonly signedAt: number;
  readonly grounds: string | undefined;
}

/**
 * How long a leaf waits for its delivery: an outage of the API server is shorter. Later it might be
 * expired, and the API server would take it all the same.
 */
const RESEND_WINDOW_MS = 5 * 60_000;

export function createSignOnce<T extends KubeObject, S extends KubeObject>(
  init: SignOnceInit<T, S>,
): SignOnce<T, S> {
  const { component, resource } = init;
  /** Key → what was signed and may or may not have landed. Owned by this closure. */
  const undelivered = createUndelivered<Remembered>();

  async function deliver(request: T, leaf: Chain): Promise<Outcome> {
    const written = await put(init.withLeaf(request, leaf));
    undelivered.delete(keyOf(request.metadata));
    return { outcome: 'issued', reason: 'Issued', written };
  }

  function ended(key: string, fresh: T | undefined, { chain }: Chain): Outcome {
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

  async function put(request: T): Promise<T> {
    const answer = await component.client.request<Pick<KubeObject, 'metadata'>>({
      method: 'PUT',
      path: resource.object(request.metadata, 'status'),
      body: (init.bodyOf ?? withoutManagedFields)(request),
      accept: METADATA_ALONE,
      read: readPartialObjectMetadata,
    });
    return asWritten(request, answer);
  }

  return {
    put,
    forget: (key) => {
      undelivered.delete(key);
    },
    issue: async (request, signer, wanted, issuing) => {
      const { uid } = request.metadata;
      const leaf = await issuing.issue(wanted, request);
      if (leaf.kind === 'held') return init.hold(request, leaf);
      const grounds = groundsOf(signer, issuing);
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
      const current = attempt(() => init.issuingOf(signer));
      // Either way: it may have been signed by a clock that has been set since.
      const recent = Math.abs(serverTime(component) - signedAt) < RESEND_WINDOW_MS;
      if (recent && groundsOf(signer, current) === grounds) return deliver(fresh, leaf);
      // An earlier write that is still under way cannot land beside a new one: the version fences both.
      undelivered.delete(key);
      return answer(fresh);
    },
  };
}
