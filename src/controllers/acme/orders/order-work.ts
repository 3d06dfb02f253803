// SPDX-License-Identifier: Apache-2.0
import { takeOrderStep } from '../../../acme-issuing/index.ts';
import type { OrderCall } from '../../../acme-issuing/order-calls.ts';
import {
  afterFailedChallenge,
  afterNoSolver,
  nextOrderStep,
  orderRecordOf,
  orderStatusOf,
} from '../../../acme-orders/index.ts';
import type { OrderAfter, OrderBefore } from '../../../acme-orders/order-events.ts';
import type { OrderView } from '../../../acme-orders/order-step.ts';
import { NO_ORDER_MEMORY, UNAUTHORIZED } from '../../../acme-orders/record.ts';
import {
  CHALLENGES,
  ORDER_UID_LABEL,
  ORDERS,
  readChallengeObject,
  readOrder,
  type AcmeSigner,
  type Order,
} from '../../../api/acme/index.ts';
import { keyOf, type KubeObject } from '../../../api/object/object.ts';
import { SignerError } from '../../../errors.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import { requeueAt, serverTime } from '../../../runtime/component/server-time.ts';
import {
  callRight,
  noteAfter,
  type AcmeContext,
  type CallRight,
  type HeldBack,
} from '../context.ts';
import type { HeldOrder, Term } from '../store/term.ts';
import { isNews, writeStatus } from '../store/write-status.ts';
import { newChallenge } from './new-challenge.ts';
import { eventOfOrder } from '../store/events.ts';
import { orderRequestOf } from './order-request.ts';

const ORDER_PATHS = resource(ORDERS);
const CHALLENGE_PATHS = resource(CHALLENGES);

/** Steps in one turn: an Order of a hundred names reads as many authorizations, and makes as many Challenges. */
const MAX_STEPS = 256;

/** A deletion of Challenges that our watch has not shown for so long is asked for again. */
const UNSEEN_DELETION_MS = 10_000;

/** Whether an Order may make its order at the server now. */
export type AskBudget = (order: Order, account: string) => HeldBack | undefined;

/** Does what is to be done for one Order now: every step of its life that is due. */
export class OrderWork {
  readonly #context: AcmeContext;
  readonly #term: Term;
  readonly #held: HeldOrder;
  readonly #askBudget: AskBudget;
  #order: Order;

  constructor(context: AcmeContext, term: Term, order: Order, askBudget: AskBudget) {
    this.#context = context;
    this.#term = term;
    this.#order = order;
    this.#askBudget = askBudget;
    const { uid, creationTimestamp } = order.metadata;
    this.#held = term.orders.get(uid) ?? {
      ...{ record: orderRecordOf(order.status), memory: NO_ORDER_MEMORY },
      isFresh: Date.parse(creationTimestamp) > term.beganAt,
    };
    term.orders.set(uid, this.#held);
  }

  async run(): Promise<ReconcileResult> {
    // What an earlier turn could not write comes before everything else.
    await this.#save();
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      if (this.#context.term() !== this.#term) return undefined;
      const step = nextOrderStep(this.#view(), this.#now());
      if (step.step === 'done' || step.step === 'wait') {
        await this.#save();
        const until = step.step === 'wait' ? step.until : undefined;
        return until === undefined ? undefined : requeueAt(this.#context.component, until);
      }
      if (step.step === 'cleanUp') return this.#cleanUp();
      const heldBack =
        step.step === 'createChallenge'
          ? await this.#createChallenge(step.authorization)
          : await this.#call(step);
      if (heldBack !== undefined) return this.#park(heldBack);
    }
    return { requeueAt: this.#context.component.clock() };
  }

  #now(): number {
    return serverTime(this.#context.component);
  }

  #view(): OrderView {
    const { metadata, spec } = this.#order;
    return {
      ...{ record: this.#held.record, memory: this.#held.memory },
      challenges: this.#context.challenges.by(metadata.uid).map((each) => ({
        authorization: each.spec.authorizationURL,
        ...{ state: each.status.state, reason: each.status.reason, message: each.status.message },
      })),
      replaces: spec.replaces !== undefined,
      abandoned: metadata.deletionTimestamp !== undefined,
    };
  }

  /** `now` is the time of the answer, not of the question: Retry-After counts from there. */
  #before(): OrderBefore {
    const now = (): number => this.#now();
    const { metadata, spec } = this.#order;
    return {
      ...{ record: this.#held.record, memory: this.#held.memory, uid: metadata.uid },
      replaces: spec.replaces !== undefined,
      get now() {
        return now();
      },
    };
  }

  #right(): CallRight {
    const { signerRef } = this.#order.spec;
    const of = { signerRef, namespace: this.#order.metadata.namespace ?? '' };
    return callRight(this.#context, this.#term, of, this.#now());
  }

  async #call(step: OrderCall): Promise<HeldBack | undefined> {
    if (step.step === 'giveUp') {
      this.#take(afterFailedChallenge(this.#before(), step.challenge));
      return undefined;
    }
    const right = this.#right();
    if ('heldBack' in right) return right.heldBack;
    const { signer, session } = right;
    if (step.step === 'newOrder') {
      const before = await this.#beforeNewOrder(session.account.account);
      if (before !== 'go on') return before;
    }
    const request = this.#requestOf(signer);
    if (request === undefined) return undefined;
    const after = await takeOrderStep(session, request, step, this.#before());
    this.#take(after);
    noteAfter(this.#context, this.#term, right, after);
    if (step.step === 'readAuthorization' && after.record.reason === undefined)
      this.#term.readAt.set(step.url, this.#now());
    // Nobody can find an order again whose URL was not written.
    if (step.step === 'newOrder') await this.#save();
    return undefined;
  }

  /** Undefined: there is an order already. */
  async #beforeNewOrder(account: string): Promise<HeldBack | 'go on' | undefined> {
    await this.#refresh();
    if (this.#held.record.url !== undefined) return undefined;
    return this.#askBudget(this.#order, account) ?? 'go on';
  }

  #take({ record, memory }: OrderAfter): void {
    this.#held.record = record;
    this.#held.memory = memory;
  }

  #requestOf(signer: AcmeSigner): ReturnType<typeof orderRequestOf> | undefined {
    try {
      return orderRequestOf(this.#order, signer);
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      const { message } = error;
      const ended = {
        state: 'failed',
        reason: 'BadRequest',
        message,
        finalAt: this.#now(),
      } as const;
      this.#held.record = { ...this.#held.record, ...ended, nextAttemptAt: undefined };
      return undefined;
    }
  }

  /** An earlier leader may have made the order already: our watch can be behind what it wrote. */
  async #refresh(): Promise<void> {
    if (this.#held.isFresh) return;
    const { component, orders } = this.#context;
    const path = ORDER_PATHS.object(this.#order.metadata);
    const found = await component.client.request<KubeObject>({ method: 'GET', path });
    const order = readOrder(found);
    orders.applyWrite(order);
    this.#order = order;
    this.#held.record = orderRecordOf(order.status);
    this.#held.isFresh = true;
  }

  async #createChallenge(url: string): Promise<HeldBack | undefined> {
    const right = this.#right();
    if ('heldBack' in right) return right.heldBack;
    const authorization = this.#held.record.authorizations.find((each) => each.url === url);
    if (authorization === undefined)
      throw new Error('a step names an authorization of another Order');
    const body = newChallenge(this.#order, right.signer, right.session, authorization);
    if ('noSolver' in body) {
      this.#take(afterNoSolver(this.#before(), body.noSolver));
      return undefined;
    }
    await this.#save();
    const { component, challenges } = this.#context;
    const path = CHALLENGE_PATHS.collection(body.metadata.namespace);
    const made = await component.client
      .request<KubeObject>({ method: 'POST', path, body })
      .catch((error: unknown) => {
        // Our watch is behind what an earlier leader, or a lost answer, has made.
        if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
        const of = { method: 'GET', path: CHALLENGE_PATHS.object(body.metadata) } as const;
        return component.client.request<KubeObject>(of);
      });
    challenges.applyWrite(readChallengeObject(made));
    return undefined;
  }

  /** Removes the Challenges; those with something to clean up stay until that is done. */
  async #cleanUp(): Promise<ReconcileResult> {
    await this.#save();
    const { component, challenges } = this.#context;
    const { uid, namespace = '' } = this.#order.metadata;
    const isLeft = challenges
      .by(uid)
      .some(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (!isLeft) return undefined;
    const again = (this.#held.cleanedUpAt ?? -Infinity) + UNSEEN_DELETION_MS;
    if (this.#now() < again) return requeueAt(component, again);
    // One call, however many there are; the label is theirs from the beginning, and nobody else's.
    const query = { labelSelector: `${ORDER_UID_LABEL}=${uid}` };
    const path = CHALLENGE_PATHS.collection(namespace);
    await component.client.request({ method: 'DELETE', path, query });
    this.#held.cleanedUpAt = this.#now();
    return undefined;
  }

  /** Says why nothing is called now. */
  async #park({ reason, message, until }: HeldBack): Promise<ReconcileResult> {
    const { record } = this.#held;
    // That an account is to be read is decided by this reason.
    if (record.reason !== UNAUTHORIZED)
      this.#held.record = { ...record, reason, message, nextAttemptAt: until };
    await this.#save();
    return until === undefined ? undefined : requeueAt(this.#context.component, until);
  }

  async #save(): Promise<void> {
    const { component, orders } = this.#context;
    const before = this.#order;
    const { record, memory } = this.#held;
    const status = orderStatusOf(record, before.status);
    // The server is asked again in a moment, and a new process asks it before anything else.
    const isBrief = record.state === 'processing' && memory.polls === 1;
    if (!isNews(before.status, status, isBrief ? ['state'] : [])) return;
    this.#order = await writeStatus(component, ORDER_PATHS, { ...before, status });
    orders.applyWrite(this.#order);
    const event = eventOfOrder(this.#order, before.status);
    if (event !== undefined) component.events.record(event);
    const { log } = component;
    const { state, reason } = status;
    log.info({ order: keyOf(before.metadata), state, reason }, 'Order changed');
  }
}
