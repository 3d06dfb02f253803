// SPDX-License-Identifier: Apache-2.0
import { acceptTheChallenge, readChallenge } from '../../../acme-issuing/index.ts';
import {
  afterCleanUp,
  afterPresenting,
  afterScheduling,
  afterSelfCheck,
  challengeRecordOf,
  challengeStatusOf,
  NO_CHALLENGE_MEMORY,
  nextChallengeStep,
} from '../../../acme-orders/index.ts';
import type { ChallengeAfter, ChallengeBefore } from '../../../acme-orders/challenge-events.ts';
import { isFinalChallenge, type ChallengeRecord } from '../../../acme-orders/record.ts';
import {
  CHALLENGES,
  needsSolver,
  type AcmeSolver,
  type Challenge,
} from '../../../api/acme/index.ts';
import { keyOf } from '../../../api/object/object.ts';
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
import { keyOfRef } from '../../../runtime/signers/acme-signers.ts';
import { eventOfChallenge } from '../store/events.ts';
import type { HeldChallenge, Term } from '../store/term.ts';
import { isNews, writeStatus } from '../store/write-status.ts';
import { finalizersOf, isOfOldKey, letGo, reportLeft, startOver } from './end-challenge.ts';
import type { ChallengeSlots } from './slots.ts';

const CHALLENGE_PATHS = resource(CHALLENGES);

/** The server's word that an Order has just read is as good as one of our own. */
const FRESH_MS = 60_000;
/** A solver that says nothing for so long may not be there. */
const SILENT_SOLVER_MS = 30_000;
/** A clean-up that fails is looked at as often. */
const CLEAN_UP_LOOK_MS = 60_000;
const MAX_CHALLENGE_STEPS = 32;
/** Steps that need what is presented to be right. */
const PROVING: readonly string[] = ['present', 'selfCheck', 'accept'];

/** Does what is to be done for one Challenge now: every step of its life that is due. */
export class ChallengeWork {
  readonly #context: AcmeContext;
  readonly #term: Term;
  readonly #slots: ChallengeSlots;
  readonly #held: HeldChallenge;
  readonly #solver: AcmeSolver | undefined;
  /** Whether `acme-solver` presents it and cleans up. */
  readonly #isSolved: boolean;
  #challenge: Challenge;

  constructor(context: AcmeContext, term: Term, slots: ChallengeSlots, challenge: Challenge) {
    this.#context = context;
    this.#term = term;
    this.#slots = slots;
    this.#challenge = challenge;
    const { metadata, spec, status } = challenge;
    this.#held = term.challenges.get(metadata.uid) ?? {
      ...{ record: challengeRecordOf(status), memory: NO_CHALLENGE_MEMORY },
    };
    term.challenges.set(metadata.uid, this.#held);
    const signer = context.signers.get(keyOfRef(spec.signerRef, metadata.namespace ?? ''));
    this.#solver = signer?.spec.acme.solvers.find(({ name }) => name === spec.solver);
    this.#isSolved =
      this.#solver === undefined ? finalizersOf(challenge).length > 0 : needsSolver(this.#solver);
  }

  async run(): Promise<ReconcileResult> {
    await this.#save();
    const { metadata } = this.#challenge;
    if (metadata.deletionTimestamp !== undefined) this.#slots.free(metadata.uid);
    for (let steps = 0; steps < MAX_CHALLENGE_STEPS; steps += 1) {
      if (this.#context.term() !== this.#term) return undefined;
      const next = await this.#step();
      if (next !== 'go on') return next;
    }
    return { requeueAt: this.#context.component.clock() };
  }

  async #step(): Promise<ReconcileResult | 'go on'> {
    const record = this.#record();
    const step = nextChallengeStep(record, this.#held.memory, this.#deletedAt(), this.#now());
    if (PROVING.includes(step.step) && isOfOldKey(this.#challenge, this.#right())) {
      await startOver(this.#context, this.#challenge);
      return undefined;
    }
    return this.#carryOut(step);
  }

  async #carryOut(step: ReturnType<typeof nextChallengeStep>): Promise<ReconcileResult | 'go on'> {
    switch (step.step) {
      case 'queue':
        return this.#schedule();
      case 'readAuthorization':
      case 'accept':
        return this.#call(step.step);
      case 'present':
        return this.#present();
      case 'selfCheck':
        return this.#check();
      case 'cleanUp':
        return this.#cleanUp();
      case 'giveUpCleanUp':
        this.#reportLeft();
        return this.#end();
      case 'done':
        return this.#end();
      case 'wait':
        await this.#save();
        return requeueAt(this.#context.component, step.until);
    }
  }

  #now(): number {
    return serverTime(this.#context.component);
  }

  #deletedAt(): number | undefined {
    const { deletionTimestamp } = this.#challenge.metadata;
    return deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp);
  }

  /** What a solver presents is what the solver says. */
  #record(): ChallengeRecord {
    const { record } = this.#held;
    if (!this.#isSolved) return record;
    const { presented = false, changedAt } = this.#challenge.status.solver ?? {};
    const presentedAt = changedAt === undefined ? this.#now() : Date.parse(changedAt);
    return { ...record, presented, ...(presented ? { presentedAt } : {}) };
  }

  /** `now` is the time of the answer, not of the question: Retry-After counts from there. */
  #before(): ChallengeBefore {
    const now = (): number => this.#now();
    return {
      ...{ record: this.#record(), memory: this.#held.memory, uid: this.#challenge.metadata.uid },
      get now() {
        return now();
      },
    };
  }

  #take({ record, memory }: ChallengeAfter): void {
    const { presented, presentedAt } = this.#held.record;
    this.#held.record = this.#isSolved ? { ...record, presented, presentedAt } : record;
    this.#held.memory = memory;
    if (isFinalChallenge(record.state)) this.#slots.free(this.#challenge.metadata.uid);
  }

  #schedule(): ReconcileResult | 'go on' {
    if (!this.#slots.ask(this.#challenge)) return undefined;
    const { memory } = this.#held;
    const readAt = this.#term.readAt.get(this.#challenge.spec.authorizationURL) ?? -Infinity;
    const isRead = this.#now() - readAt < FRESH_MS;
    const record = afterScheduling(this.#held.record);
    this.#held.record = isRead ? { ...record, state: 'pending' } : record;
    const read = { authorization: 'pending', challenge: 'pending' } as const;
    if (isRead) this.#held.memory = { ...memory, read };
    return 'go on';
  }

  async #call(step: 'readAuthorization' | 'accept'): Promise<ReconcileResult | 'go on'> {
    const right = this.#right();
    if ('heldBack' in right) return this.#park(right.heldBack);
    const { type, url, authorizationURL: authorizationUrl } = this.#challenge.spec;
    const call = step === 'accept' ? acceptTheChallenge : readChallenge;
    const after = await call(right.session, { type, url, authorizationUrl }, this.#before());
    this.#take(after);
    noteAfter(this.#context, this.#term, right, after);
    return 'go on';
  }

  #right(): CallRight {
    const { metadata, spec } = this.#challenge;
    const of = { signerRef: spec.signerRef, namespace: metadata.namespace ?? '' };
    return callRight(this.#context, this.#term, of, this.#now());
  }

  async #present(): Promise<ReconcileResult | 'go on'> {
    if (this.#solver === undefined) {
      const message = `the signer has no solver ${this.#challenge.spec.solver} any more; delete the Order, or add the solver again`;
      return this.#park({ reason: 'SolverNotFound', message });
    }
    if (!this.#isSolved) {
      this.#take(afterPresenting(this.#before()));
      return 'go on';
    }
    // From here on it is acme-solver's turn.
    const { reason, message } = this.#challenge.status.solver ?? {};
    if (reason !== undefined) return this.#park({ reason, message: message ?? reason });
    await this.#save();
    const { component } = this.#context;
    const since = (this.#held.solverAskedAt ??= this.#now());
    const silentAt = since + SILENT_SOLVER_MS;
    if (this.#now() < silentAt) return requeueAt(component, silentAt);
    const silence = 'the component acme-solver has not answered; see whether it runs';
    return this.#park({ reason: 'SolverSilent', message: silence });
  }

  async #check(): Promise<ReconcileResult | 'go on'> {
    const { spec } = this.#challenge;
    // What its record is to say is known while the signer is ready.
    const right = spec.type === 'dns-persist-01' ? this.#right() : undefined;
    if (right !== undefined && 'heldBack' in right) return this.#park(right.heldBack);
    await this.#save();
    const { component, checkChallenge } = this.#context;
    const namespaced = spec.signerRef.kind === 'AcmeSigner';
    const { presentedAt = this.#now() } = this.#record();
    const begun = component.monotonic();
    const problem = await checkChallenge(
      {
        ...spec,
        persist: right?.persist,
        presentedAt,
        namespaced,
        settings: this.#solver?.selfCheck,
      },
      new AbortController().signal,
    );
    const seconds = (component.monotonic() - begun) / 1000;
    component.metrics.acmeSelfCheck(spec.type, problem === undefined, seconds);
    this.#take(afterSelfCheck(this.#before(), problem));
    return 'go on';
  }

  async #cleanUp(): Promise<ReconcileResult | 'go on'> {
    if (!this.#isSolved) {
      this.#take(afterCleanUp(this.#before()));
      return 'go on';
    }
    await this.#save();
    return requeueAt(this.#context.component, this.#now() + CLEAN_UP_LOOK_MS);
  }

  /** Nothing is presented any more, or nobody tries to remove it any longer. */
  async #end(): Promise<ReconcileResult> {
    const { metadata } = this.#challenge;
    if (metadata.deletionTimestamp === undefined) {
      await this.#save();
      return undefined;
    }
    await letGo(this.#context, this.#challenge);
    return undefined;
  }

  #reportLeft(): void {
    if (this.#held.isLeft === true) return;
    this.#held.isLeft = true;
    reportLeft(this.#context, this.#challenge);
  }

  async #park({ reason, message, until }: HeldBack): Promise<ReconcileResult> {
    this.#held.record = { ...this.#held.record, reason, message, nextAttemptAt: until };
    await this.#save();
    return until === undefined ? undefined : requeueAt(this.#context.component, until);
  }

  async #save(): Promise<void> {
    const { component, challenges } = this.#context;
    const before = this.#challenge;
    const status = challengeStatusOf(this.#held.record, before.status);
    if (!this.#isWorthWriting(status)) return;
    this.#challenge = await writeStatus(component, CHALLENGE_PATHS, { ...before, status });
    challenges.applyWrite(this.#challenge);
    const event = eventOfChallenge(this.#challenge, before.status);
    if (event !== undefined) component.events.record(event);
    const { state, reason } = status;
    component.log.info({ challenge: keyOf(before.metadata), state, reason }, 'Challenge changed');
  }

  #isWorthWriting(status: Challenge['status']): boolean {
    const before = this.#challenge.status;
    // One that was never touched says nothing yet.
    if (Object.keys(before).length === 0 && !this.#held.record.processing)
      return status.reason !== undefined || status.state !== undefined;
    return isNews(before, status, isFinalChallenge(status.state) ? ['presented'] : []);
  }
}
