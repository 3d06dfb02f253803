// SPDX-License-Identifier: Apache-2.0
import { acceptTheChallenge, readChallenge } from '#acme/issuing/index.ts';
import {
  afterCleanUp,
  afterExpiry,
  afterPresenting,
  afterQueueing,
  afterRelease,
  afterScheduling,
  afterSelfCheck,
  afterYielding,
  nextChallengeStep,
} from '#acme/orders/index.ts';
import type { ChallengeAfter, ChallengeBefore } from '#acme/orders/challenge-events.ts';
import {
  isConcluding,
  type ChallengeStep,
  type ConcludingStep,
} from '#acme/orders/challenge-step.ts';
import { changed, isFinalChallenge, timeOf, timeText } from '#acme/orders/status.ts';
import { grantRefusal } from '#acme/solving/http/grants.ts';
import { needsSolver, type AcmeSolver } from '#api/acme/acme-signer.ts';
import type { Challenge, ChallengeObjectStatus } from '#api/acme/challenge.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import { keyOfRef } from '#component/signers/acme-signers.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import {
  callRight,
  noteAfter,
  type AcmeContext,
  type CallDeferral,
  type CallRight,
} from '../context.ts';
import type { HeldChallenge, Term } from '../store/leader-state.ts';
import { checkChallenge, heldChallenge, saveChallenge, untilExpiry } from './challenge-state.ts';
import { finalizersOf, isOfOldKey, letGo, reportLeft, startOver } from './end-challenge.ts';
import type { ChallengeSlots } from './slots.ts';
import { settleValidation, takeValidation, validationBudget } from './validations.ts';
import * as messages from '../messages.ts';

/** Time in the queue after which the status names the wait. */
const QUEUED_MS = 60_000;
/** Time without an answer after which `acme-solver` may not be running. */
const SILENT_SOLVER_MS = 30_000;
/** Interval between checks of a failing clean-up. */
const CLEAN_UP_LOOK_MS = 60_000;
const MAX_CHALLENGE_STEPS = 32;
/** Steps that need the presented value to be correct. */
const PROVING: ReadonlySet<ChallengeStep['step']> = new Set(['present', 'selfCheck', 'accept']);

/** One Challenge while its steps are taken. */
interface ChallengeTurn {
  readonly context: AcmeContext;
  readonly term: Term;
  readonly slots: ChallengeSlots;
  readonly held: HeldChallenge;
  readonly solver: AcmeSolver | undefined;
  /** Whether `acme-solver` presents it and cleans up. */
  readonly usesSolver: boolean;
  challenge: Challenge;
}

type Next = ReconcileResult | 'go on';

/** Takes every due step of one Challenge. */
export async function driveChallenge(
  context: AcmeContext,
  term: Term,
  slots: ChallengeSlots,
  challenge: Challenge,
): Promise<ReconcileResult> {
  const { metadata, spec } = challenge;
  const held = heldChallenge(term, challenge);
  const signer = context.signers.get(keyOfRef(spec.signerRef, metadata.namespace ?? ''));
  const solver = signer?.spec.acme.solvers.find(({ name }) => name === spec.solver);
  const usesSolver =
    solver === undefined ? finalizersOf(challenge).length > 0 : needsSolver(solver);
  const turn = { context, term, slots, challenge, held, solver, usesSolver };
  await save(turn);
  if (metadata.deletionTimestamp !== undefined) slots.free(metadata.uid);
  return untilExpiry(context, held, await takeSteps(turn));
}

async function takeSteps(turn: ChallengeTurn): Promise<ReconcileResult> {
  const { context, term, held, challenge } = turn;
  for (let steps = 0; steps < MAX_CHALLENGE_STEPS; steps += 1) {
    // A Challenge that was deleted during a call would hold its next slot permanently.
    const isForgotten = term.challenges.get(challenge.metadata.uid) !== held;
    if (context.term() !== term || isForgotten) return undefined;
    const next = await takeStep(turn);
    if (next !== 'go on') return next;
  }
  return { requeueAt: context.component.clock() };
}

/** Takes one step: end the turn if it is over, read, decide, carry out. */
async function takeStep(turn: ChallengeTurn): Promise<Next> {
  const { context, held, challenge } = turn;
  yieldTurn(turn);
  const deletedAt = timeOf(challenge.metadata.deletionTimestamp);
  const step = nextChallengeStep(statusOf(turn), held.memory, deletedAt, nowOf(turn));
  if (PROVING.has(step.step) && isOfOldKey(challenge, rightOf(turn))) {
    await startOver(context, challenge);
    return undefined;
  }
  return isConcluding(step) ? conclude(turn, step) : carryOut(turn, step);
}

async function carryOut(
  turn: ChallengeTurn,
  step: Exclude<ChallengeStep, ConcludingStep>,
): Promise<Next> {
  switch (step.step) {
    case 'queue':
      return takeSlot(turn);
    case 'readAuthorization':
    case 'accept':
      return callServer(turn, step.step);
    case 'present':
      return present(turn);
    case 'selfCheck':
      return selfCheck(turn);
    case 'cleanUp':
      return cleanUp(turn);
    case 'wait':
      await save(turn);
      return requeueAt(turn.context.component, step.until);
  }
}

/** Ends the turn, the authorization or the Challenge, or gives the slot back. */
async function conclude(turn: ChallengeTurn, step: ConcludingStep): Promise<Next> {
  if (step.step === 'expire') return adopt(turn, afterExpiry(beforeOf(turn)));
  const { context, slots, held, challenge } = turn;
  const isLeft = step.step === 'giveUpCleanUp' || (step.step === 'release' && step.isLeft);
  if (isLeft) reportLeft(context, challenge, held);
  if (step.step === 'release') {
    // Others get the slot. The Challenge then waits again.
    adopt(turn, afterRelease(beforeOf(turn)));
    await save(turn);
    slots.free(challenge.metadata.uid);
    return 'go on';
  }
  if (challenge.metadata.deletionTimestamp === undefined) await save(turn);
  else await letGo(context, challenge);
  return undefined;
}

/** Starts the clean-up after the turn ended. */
function yieldTurn(turn: ChallengeTurn): void {
  const { slots, held, challenge } = turn;
  const isOver = slots.mustYield(challenge.metadata.uid);
  if (!isOver || held.memory.yieldedAt !== undefined || isFinalChallenge(held.status.state)) return;
  held.solverAskedAt = undefined;
  adopt(turn, afterYielding(beforeOf(turn)));
}

/** Takes a slot. The next step reads the server's state before anything is presented. */
async function takeSlot(turn: ChallengeTurn): Promise<Next> {
  const { context, slots, held, challenge } = turn;
  const { metadata } = challenge;
  const right = rightOf(turn);
  const refusal =
    grantRefusal(challenge, context.http01Grants) ??
    ('deferral' in right ? right.deferral : undefined);
  if (refusal !== undefined) {
    // No other Challenge yields to one that waits for its signer.
    slots.free(metadata.uid);
    return park(turn, refusal);
  }
  if (slots.ask(challenge)) {
    held.status = afterScheduling(held.status);
    return 'go on';
  }
  const shownAt = Date.parse(metadata.creationTimestamp) + QUEUED_MS;
  if (nowOf(turn) < shownAt) return requeueAt(context.component, shownAt);
  held.status = afterQueueing(held.status);
  await save(turn);
  return undefined;
}

/** Makes one call to the server within the CA's limit on failed validations. */
async function callServer(
  turn: ChallengeTurn,
  step: 'readAuthorization' | 'accept',
): Promise<Next> {
  const { context, term, held } = turn;
  const right = rightOf(turn);
  if ('deferral' in right) return park(turn, right.deferral);
  const { type, url, authorizationURL: authorizationUrl, dnsName } = turn.challenge.spec;
  const { account } = right.session.account;
  if (step === 'accept') {
    const until = takeValidation(term, held, { account, dnsName }, nowOf(turn));
    if (until !== undefined) return park(turn, validationBudget(dnsName, until));
  }
  const call = step === 'accept' ? acceptTheChallenge : readChallenge;
  const after = await call(right.session, { type, url, authorizationUrl }, beforeOf(turn));
  adopt(turn, after);
  settleValidation(term, held, { account, dnsName }, nowOf(turn));
  noteAfter(context, term, right, after);
  return 'go on';
}

async function present(turn: ChallengeTurn): Promise<Next> {
  const { context, held, challenge } = turn;
  if (turn.solver === undefined) {
    const message = messages.solverGone(challenge.spec.solver);
    return park(turn, { reason: 'SolverNotFound', message });
  }
  if (!turn.usesSolver) return adopt(turn, afterPresenting(beforeOf(turn)));
  // The next step is acme-solver's.
  const { reason, message } = challenge.status.solver ?? {};
  if (reason !== undefined) return park(turn, { reason, message: message ?? reason });
  await save(turn);
  const since = (held.solverAskedAt ??= nowOf(turn));
  const silentAt = since + SILENT_SOLVER_MS;
  if (nowOf(turn) < silentAt) return requeueAt(context.component, silentAt);
  return park(turn, { reason: 'SolverTimeout', message: messages.SOLVER_SILENT });
}

async function selfCheck(turn: ChallengeTurn): Promise<Next> {
  const { context, slots, solver } = turn;
  const { spec, metadata } = turn.challenge;
  // The contents of its record are known while the signer is ready.
  const right = spec.type === 'dns-persist-01' ? rightOf(turn) : undefined;
  if (right !== undefined && 'deferral' in right) return park(turn, right.deferral);
  await save(turn);
  const presentedAt = timeOf(statusOf(turn).presentedAt) ?? nowOf(turn);
  const how = { presentedAt, persist: right?.persist, settings: solver?.selfCheck };
  const problem = await checkChallenge(context, turn.challenge, how);
  adopt(turn, afterSelfCheck(beforeOf(turn), problem && withCause(problem, turn.challenge)));
  if (problem === undefined) slots.gotOn(metadata.uid);
  return 'go on';
}

/** Adds what `acme-solver` found: another controller does not serve the route. */
function withCause(problem: string, { status: { solver } }: Challenge): string {
  return solver?.message === undefined ? problem : `${problem}; ${solver.message}`;
}

async function cleanUp(turn: ChallengeTurn): Promise<Next> {
  if (!turn.usesSolver) return adopt(turn, afterCleanUp(beforeOf(turn)));
  await save(turn);
  return requeueAt(turn.context.component, nowOf(turn) + CLEAN_UP_LOOK_MS);
}

/** Returns the status. For a solver's Challenge, the solver decides what is presented. */
function statusOf(turn: ChallengeTurn): ChallengeObjectStatus {
  const { held, usesSolver, challenge } = turn;
  if (!usesSolver) return held.status;
  const { presented = false, changedAt } = challenge.status.solver ?? {};
  if (!presented) return { ...held.status, presented };
  return { ...held.status, presented, presentedAt: changedAt ?? timeText(nowOf(turn)) };
}

/** `now` is the time of the answer, not of the call: Retry-After counts from there. */
function beforeOf(turn: ChallengeTurn): ChallengeBefore {
  return {
    status: statusOf(turn),
    memory: turn.held.memory,
    uid: turn.challenge.metadata.uid,
    get now() {
      return nowOf(turn);
    },
  };
}

/** Keeps the outcome of an event. A final Challenge gives its slot back. */
function adopt(
  { held, usesSolver, slots, challenge }: ChallengeTurn,
  { status, memory }: ChallengeAfter,
): 'go on' {
  const { presented, presentedAt } = held.status;
  held.status = usesSolver ? changed(status, { presented, presentedAt }) : status;
  held.memory = memory;
  if (isFinalChallenge(status.state)) slots.free(challenge.metadata.uid);
  return 'go on';
}

function rightOf(turn: ChallengeTurn): CallRight {
  const { metadata, spec } = turn.challenge;
  const of = { signerRef: spec.signerRef, namespace: metadata.namespace ?? '' };
  return callRight(turn.context, turn.term, of, nowOf(turn));
}

function nowOf({ context }: ChallengeTurn): number {
  return serverTime(context.component);
}

async function park(
  turn: ChallengeTurn,
  { reason, message, until }: CallDeferral,
): Promise<ReconcileResult> {
  const waits = { reason, message, nextAttemptAt: timeText(until) };
  turn.held.status = changed(turn.held.status, waits);
  await save(turn);
  return until === undefined ? undefined : requeueAt(turn.context.component, until);
}

async function save(turn: ChallengeTurn): Promise<void> {
  turn.challenge = await saveChallenge(turn.context, turn.challenge, turn.held.status);
}
