// SPDX-License-Identifier: Apache-2.0
import type { Answer } from '../../../acme/answer.ts';
import { giveUpAuthorization } from '../../../acme-issuing/index.ts';
import { callBackOff } from '../../../acme-orders/back-off.ts';
import { isFinalChallenge, isFinalOrder } from '../../../acme-orders/record.ts';
import { orderRecordOf } from '../../../acme-orders/index.ts';
import type { AcmeSignerRef, Challenge, Order } from '../../../api/acme/index.ts';
import type { ObjectMeta } from '../../../api/object/object.ts';
import { BoundedMap } from '../../../bounded-map.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { requeueAt, serverTime } from '../../../runtime/component/server-time.ts';
import { callRight, type AcmeContext } from '../context.ts';
import { runObjectLoop, withOwnQueue } from '../store/object-loop.ts';

/** An authorization that nobody needs any more. */
interface Abandoned {
  readonly signerRef: AcmeSignerRef;
  readonly namespace: string;
  tries: number;
}

const ABANDONED_WORKERS = 4;
/** An authorization ends by itself after a week: some calls are worth it. */
const MAX_TRIES = 5;
const MAX_ABANDONED = 10_000;

/**
 * Gives up authorizations of Orders that were deleted or failed (RFC 8555 §7.5.2): CAs count those that are pending. It holds
 * up no deletion, so nothing is written down: a new leader finds those whose Challenges are still being cleaned up.
 */
export class AbandonedLoop {
  readonly #context: AcmeContext;
  readonly #component: Component;
  /** By the URL of the authorization. */
  readonly #abandoned = new BoundedMap<string, Abandoned>(MAX_ABANDONED);

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

  /** This process leads from now on. */
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

  /** Those that got no Challenge: it waited for a solver, or had no time. */
  #ofOrder({ metadata, spec, status }: Order): void {
    if (isFinalOrder(orderRecordOf(status))) return;
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
      !('heldBack' in right) && isAnswered(await giveUpAuthorization(right.session, url));
    if (isDone || abandoned.tries >= MAX_TRIES) {
      this.#abandoned.delete(url);
      const what = isDone ? 'authorization given up' : 'authorization left to its end';
      this.#component.log.info({ authorization: url, tries: abandoned.tries }, what);
      return undefined;
    }
    const heldUntil = 'heldBack' in right ? right.heldBack.until : undefined;
    const until = heldUntil ?? serverTime(this.#component) + callBackOff(abandoned.tries, url);
    return requeueAt(this.#component, until);
  }

  /** A CA may give one authorization to several orders. */
  #isNeeded(url: string): boolean {
    const { orders, challenges } = this.#context;
    const isHeld = challenges.list().some(({ metadata, spec, status }) => {
      const isLive = metadata.deletionTimestamp === undefined && !isFinalChallenge(status.state);
      return isLive && spec.authorizationURL === url;
    });
    return (
      isHeld ||
      orders.list().some(({ metadata, status }) => {
        const isLive =
          metadata.deletionTimestamp === undefined && !isFinalOrder(orderRecordOf(status));
        return isLive && status.authorizations?.some((each) => each.url === url) === true;
      })
    );
  }
}

/** The object, where it is deleted from this event on. */
function newlyDeleted<T extends Challenge | Order>(
  now: T | undefined,
  before: T | undefined,
): T | undefined {
  if (before?.metadata.deletionTimestamp !== undefined) return undefined;
  if (now === undefined) return before;
  return now.metadata.deletionTimestamp === undefined ? undefined : now;
}

/** Whatever the server said, it knows; a server that fails or limits is asked again. */
function isAnswered(answer: Answer<unknown>): boolean {
  if (answer.kind === 'transport') return false;
  return answer.kind === 'ok' || (answer.status < 500 && answer.status !== 429);
}
