// SPDX-License-Identifier: Apache-2.0
import type { Answer } from '#acme/protocol/answer.ts';
import { giveUpAuthorization } from '#acme/issuing/index.ts';
import { callBackOff } from '#acme/orders/back-off.ts';
import { isFinalChallenge, isFinalOrder } from '#acme/orders/status.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import type { AcmeSignerRef } from '#api/acme/fields.ts';
import type { Order } from '#api/acme/order.ts';
import type { ObjectMeta } from '#api/object/object.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import { callRight, type AcmeContext } from '../context.ts';
import { runObjectLoop, withOwnQueue } from '../store/object-loop.ts';
import * as messages from '../messages.ts';

/** An authorization that no Order needs. */
interface AbandonedAuthorization {
  readonly signerRef: AcmeSignerRef;
  readonly namespace: string;
  tries: number;
}

const ABANDONED_WORKERS = 4;
/** Limit on calls for one authorization: it expires by itself after a week. */
const MAX_TRIES = 5;
const MAX_ABANDONED = 10_000;

/**
 * Deactivates authorizations of deleted or failed Orders (RFC 8555 §7.5.2), because CAs count
 * pending ones. It delays no deletion, so it stores nothing. A new leader finds those whose
 * Challenges are still being cleaned up.
 */
export class AbandonedLoop {
  readonly #context: AcmeContext;
  readonly #component: Component;
  /** Authorizations by URL. */
  readonly #abandoned = new BoundedMap<string, AbandonedAuthorization>(MAX_ABANDONED);

  constructor(context: AcmeContext) {
    const { component, orders, challenges } = context;
    this.#context = context;
    this.#component = withOwnQueue(component, 'abandoned');
    challenges.onEvent((_key, now, before) => {
      const deleted = newlyDeleted(now, before);
      if (deleted !== undefined) this.#ofChallenge(deleted);
    });
    orders.onEvent((_key, now, before) => {
      const deleted = newlyDeleted(now, before);
      if (deleted !== undefined) this.#ofOrder(deleted);
    });
  }

  /** Called when this process starts to lead. */
  readonly begin = (): void => {
    for (const each of this.#context.challenges.list())
      if (each.metadata.deletionTimestamp !== undefined) this.#ofChallenge(each);
  };

  readonly run = (signal: AbortSignal): Promise<void> => {
    const handle = (url: string): Promise<ReconcileResult> => this.#reconcile(url);
    return runObjectLoop(
      this.#component,
      { noun: 'Challenge', workers: ABANDONED_WORKERS, handle },
      signal,
    );
  };

  #ofChallenge({ metadata, spec, status }: Challenge): void {
    if (!isFinalChallenge(status.state))
      this.#giveUp(spec.authorizationURL, spec.signerRef, metadata);
  }

  /**
   * Deactivates authorizations without a Challenge, whose Order waited for a solver or ended too
   * soon.
   */
  #ofOrder({ metadata, spec, status }: Order): void {
    if (isFinalOrder(status)) return;
    const ofChallenges = new Set(
      this.#context.challenges.by(metadata.uid).map((each) => each.spec.authorizationURL),
    );
    for (const { url, wasValid = false } of status.authorizations ?? [])
      if (!wasValid && !ofChallenges.has(url)) this.#giveUp(url, spec.signerRef, metadata);
  }

  #giveUp(url: string, signerRef: AcmeSignerRef, { namespace = '' }: ObjectMeta): void {
    if (this.#context.term() === undefined) return;
    this.#abandoned.set(url, { signerRef, namespace, tries: 0 });
    this.#component.queue.add(url);
  }

  async #reconcile(url: string): Promise<ReconcileResult> {
    const abandoned = this.#abandoned.get(url);
    const term = this.#context.term();
    if (abandoned === undefined || term === undefined || this.#isNeeded(url)) {
      this.#abandoned.delete(url);
      return undefined;
    }
    abandoned.tries += 1;
    const now = serverTime(this.#component);
    const right = callRight(this.#context, term, abandoned, now);
    const isDone =
      !('deferral' in right) && isAnswered(await giveUpAuthorization(right.session, url));
    if (isDone || abandoned.tries >= MAX_TRIES) {
      this.#abandoned.delete(url);
      const what = isDone ? messages.AUTHORIZATION_GIVEN_UP : messages.AUTHORIZATION_LEFT;
      this.#component.log.info({ authorization: url, tries: abandoned.tries }, what);
      return undefined;
    }
    const heldUntil = 'deferral' in right ? right.deferral.until : undefined;
    const until = heldUntil ?? serverTime(this.#component) + callBackOff(abandoned.tries, url);
    return requeueAt(this.#component, until);
  }

  /** Reports whether another Order needs it: a CA may give one authorization to several orders. */
  #isNeeded(url: string): boolean {
    const { orders, challenges } = this.#context;
    const isHeld = challenges.list().some(({ metadata, spec, status }) => {
      const isLive = metadata.deletionTimestamp === undefined && !isFinalChallenge(status.state);
      return isLive && spec.authorizationURL === url;
    });
    return (
      isHeld ||
      orders.list().some(({ metadata, status }) => {
        const isLive = metadata.deletionTimestamp === undefined && !isFinalOrder(status);
        return isLive && status.authorizations?.some((each) => each.url === url) === true;
      })
    );
  }
}

/** Returns the object if this event deletes it. */
function newlyDeleted<T extends Challenge | Order>(
  now: T | undefined,
  before: T | undefined,
): T | undefined {
  if (before?.metadata.deletionTimestamp !== undefined) return undefined;
  if (now === undefined) return before;
  return now.metadata.deletionTimestamp === undefined ? undefined : now;
}

/**
 * Returns false for transport errors, 429, and 5xx. Any other answer means that the server knows
 * the request.
 */
function isAnswered(answer: Answer<unknown>): boolean {
  if (answer.kind === 'transport') return false;
  return answer.kind === 'ok' || (answer.status < 500 && answer.status !== 429);
}
