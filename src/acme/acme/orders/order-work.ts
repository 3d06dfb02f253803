// SPDX-License-Identifier: Apache-2.0
import { takeOrderStep } from '#acme/issuing/index.ts';
import type { OrderCall } from '#acme/issuing/order-calls.ts';
import {
  afterBadRequest,
  afterFailedChallenge,
  afterNoSolver,
  afterOtherAccount,
  nextOrderStep,
  showWaitFor,
} from '#acme/orders/index.ts';
import type { OrderAfter, OrderBefore } from '#acme/orders/order-events.ts';
import type { OrderView } from '#acme/orders/order-step.ts';
import { changed, isFinalOrder, NOT_WAITING, timeText, UNAUTHORIZED } from '#acme/orders/status.ts';
import { grantRefusal } from '#acme/solving/http/grants.ts';
import type { Order } from '#api/acme/order.ts';
import { keyOf } from '#api/object/object.ts';
import { SignerError } from '#base/errors.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import {
  callRight,
  noteAfter,
  type AcmeContext,
  type CallDeferral,
  type CallRight,
} from '../context.ts';
import * as messages from '../messages.ts';
import type { HeldOrder, Term } from '../store/leader-state.ts';
import { newChallenge } from './new-challenge.ts';
import { orderRequestOf } from './order-request.ts';
import {
  createChallenge,
  deleteChallenges,
  heldOrder,
  isGone,
  readOrderAgain,
  saveOrder,
} from './order-state.ts';
import type { OrderShares } from './order-shares.ts';
import { endShare, settleShare } from './wanted-order.ts';

/**
 * Steps in one turn. An Order of a hundred names reads as many authorizations, and creates as many
 * Challenges.
 */
const MAX_STEPS = 256;

/** Time after which a deletion of Challenges is repeated if our watch has not delivered it. */
const UNSEEN_DELETION_MS = 10_000;

/** Budgets that calls need. */
const BUDGETS: Partial<Record<OrderCall['step'], 'order' | 'certificate'>> = {
  newOrder: 'order',
  finalize: 'certificate',
};

/** One Order while its steps are taken. */
interface OrderTurn {
  readonly context: AcmeContext;
  readonly term: Term;
  readonly held: HeldOrder;
  readonly shares: Pick<OrderShares, 'take' | 'answered'>;
  order: Order;
}

/** Signer and session of a call. */
type Callable = Exclude<CallRight, { readonly deferral: CallDeferral }>;

/** Takes every due step of one Order. */
export async function driveOrder(
  context: AcmeContext,
  term: Term,
  order: Order,
  shares: OrderTurn['shares'],
): Promise<ReconcileResult> {
  const turn = { context, term, order, shares, held: heldOrder(term, order) };
  // First write what an earlier turn could not.
  await save(turn);
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    if (context.term() !== term || isGone(context, turn.order)) return undefined;
    const account = otherAccount(turn);
    if (account !== undefined) take(turn, afterOtherAccount(beforeOf(turn), account));
    const next = await takeStep(turn);
    if (next !== 'go on') return next;
  }
  return { requeueAt: context.component.clock() };
}

/** Takes one step: read, decide, check the right to call, call, record, report. */
async function takeStep(turn: OrderTurn): Promise<ReconcileResult | 'go on'> {
  const { context, held } = turn;
  const step = nextOrderStep(viewOf(turn), nowOf(turn));
  held.status = showWaitFor(held.status, step.step === 'wait' ? step.for : undefined);
  if (step.step === 'done' || step.step === 'wait') {
    await save(turn);
    const until = step.step === 'wait' ? step.until : undefined;
    return until === undefined ? undefined : requeueAt(context.component, until);
  }
  if (step.step === 'cleanUp') return removeChallenges(turn);
  if (step.step === 'giveUp')
    return take(turn, afterFailedChallenge(beforeOf(turn), step.challenge.status));
  const right = rightOf(turn);
  if ('deferral' in right) return park(turn, right.deferral);
  return step.step === 'createChallenge'
    ? proveName(turn, right, step.authorization)
    : callServer(turn, right, step);
}

/**
 * Returns the URL of the signer's account if another account created the order. Undefined for an
 * Order that has ended.
 */
function otherAccount(turn: OrderTurn): string | undefined {
  const { status } = turn.held;
  if (isFinalOrder(status) || status.accountURL === undefined) return undefined;
  const right = rightOf(turn);
  if ('deferral' in right) return undefined;
  const { account } = right.session.account;
  return account === status.accountURL ? undefined : account;
}

/** Makes one call to the server within the CA's budgets. */
async function callServer(
  turn: OrderTurn,
  right: Callable,
  step: OrderCall,
): Promise<ReconcileResult | 'go on'> {
  const { context, term, held } = turn;
  const { account } = right.session.account;
  // An Order without a request for the CA takes no share.
  const request = orderRequestOf(turn.order, right.signer);
  if (request instanceof SignerError)
    return take(turn, afterBadRequest(beforeOf(turn), request.message));
  // An earlier leader may have created the order.
  if (step.step === 'newOrder' && !held.isFresh) await refresh(turn);
  if (step.step === 'newOrder' && held.status.url !== undefined) return 'go on';
  const budget = BUDGETS[step.step];
  const deferral = budget && turn.shares.take(turn.order, account, budget);
  if (deferral !== undefined) return park(turn, deferral);
  const after = await answerTo(turn, step, () =>
    takeOrderStep(right.session, request, step, beforeOf(turn)),
  );
  take(turn, after);
  settleShare(term, { order: turn.order, held, account }, nowOf(turn));
  endShareOfGone(turn);
  noteAfter(context, term, right, after);
  if (budget !== undefined)
    turn.shares.answered(turn.order, account, budget, after.orderLimitUntil);
  // Without a written URL, no process can find the order again.
  if (step.step === 'newOrder') await save(turn);
  return 'go on';
}

/** Marks the Order during a call to the CA: its deletion then leaves its share alone. */
async function answerTo(
  turn: OrderTurn,
  step: OrderCall,
  call: () => Promise<OrderAfter>,
): Promise<OrderAfter> {
  const { held } = turn;
  held.isCalling = true;
  if (step.step === 'finalize') held.isFinalized = true;
  try {
    const after = await call();
    // The CA did not finalize it.
    if (after.memory.server?.status === 'ready') held.isFinalized = false;
    return after;
  } catch (error) {
    endShareOfGone(turn);
    throw error;
  } finally {
    held.isCalling = false;
  }
}

/** Ends the share of an Order that was deleted during a call. */
function endShareOfGone(turn: OrderTurn): void {
  if (!isGone(turn.context, turn.order)) return;
  const mayBeIssued = turn.held.isFinalized === true;
  endShare(turn.term, turn.order.metadata.uid, { mayBeIssued }, nowOf(turn));
}

/** Creates the Challenge that proves the name of an authorization. */
async function proveName(
  turn: OrderTurn,
  { signer, session }: Callable,
  url: string,
): Promise<ReconcileResult | 'go on'> {
  const { context, held } = turn;
  const authorization = held.status.authorizations?.find((each) => each.url === url);
  if (authorization === undefined)
    throw new Error('a step names an authorization of another Order');
  const body = newChallenge(turn.order, signer, session, authorization);
  if ('noSolver' in body) return take(turn, afterNoSolver(beforeOf(turn), body.noSolver));
  // A refused proof must not take a slot.
  const refusal = grantRefusal(body, context.http01Grants);
  if (refusal !== undefined) return park(turn, refusal);
  // An earlier wait for a solver or a grant is over.
  held.status = changed(held.status, NOT_WAITING);
  await save(turn);
  await createChallenge(context, body);
  return 'go on';
}

/** Removes the Challenges. Those with a clean-up stay until it is done. */
async function removeChallenges(turn: OrderTurn): Promise<ReconcileResult> {
  await save(turn);
  const { context, held, order } = turn;
  const left = context.challenges
    .by(order.metadata.uid)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (left.length === 0) return undefined;
  const again = (held.cleanedUpAt ?? -Infinity) + UNSEEN_DELETION_MS;
  if (nowOf(turn) < again) return requeueAt(context.component, again);
  await deleteChallenges(context, order);
  held.cleanedUpAt = nowOf(turn);
  return undefined;
}

function viewOf({ context, held, order }: OrderTurn): OrderView {
  const { metadata, spec } = order;
  return {
    status: held.status,
    memory: held.memory,
    challenges: context.challenges.by(metadata.uid),
    replaces: spec.replaces !== undefined,
    abandoned: metadata.deletionTimestamp !== undefined,
  };
}

/** `now` is the time of the answer, not of the call: Retry-After counts from there. */
function beforeOf(turn: OrderTurn): OrderBefore {
  const { metadata, spec } = turn.order;
  return {
    status: turn.held.status,
    memory: turn.held.memory,
    uid: metadata.uid,
    replaces: spec.replaces !== undefined,
    get now() {
      return nowOf(turn);
    },
  };
}

function rightOf(turn: OrderTurn): CallRight {
  const { metadata, spec } = turn.order;
  const { kind } = spec.signerRef;
  const of = { signerRef: spec.signerRef, namespace: metadata.namespace ?? '' };
  const right = callRight(turn.context, turn.term, of, nowOf(turn));
  if ('deferral' in right || right.signer.metadata.deletionTimestamp === undefined) return right;
  // A finalizer can keep a deleted signer for long. Revocations and clean-ups still use it.
  const message = messages.signerDeleted(kind, keyOf(right.signer.metadata));
  return { deferral: { reason: 'SignerNotFound', message } };
}

function nowOf({ context }: OrderTurn): number {
  return serverTime(context.component);
}

function take({ held }: OrderTurn, { status, memory }: OrderAfter): 'go on' {
  held.status = status;
  held.memory = memory;
  return 'go on';
}

async function refresh(turn: OrderTurn): Promise<void> {
  turn.order = await readOrderAgain(turn.context, turn.order);
  turn.held.status = turn.order.status;
  turn.held.isFresh = true;
}

/** Writes the reason that no call is made now. */
async function park(
  turn: OrderTurn,
  { reason, message, until }: CallDeferral,
): Promise<ReconcileResult> {
  if (isGone(turn.context, turn.order)) return undefined;
  const { held } = turn;
  // This reason decides that the account must be read, so keep it.
  if (held.status.reason !== UNAUTHORIZED)
    held.status = changed(held.status, { reason, message, nextAttemptAt: timeText(until) });
  await save(turn);
  return until === undefined ? undefined : requeueAt(turn.context.component, until);
}

async function save(turn: OrderTurn): Promise<void> {
  turn.order = await saveOrder(turn.context, turn.order, turn.held);
}
