// SPDX-License-Identifier: Apache-2.0
import {
  afterAccepting,
  afterCleanUp,
  afterExpiry,
  afterPresenting,
  afterReading,
  afterRelease,
  afterScheduling,
  afterSelfCheck,
  NEW_CHALLENGE,
  type ChallengeAfter,
  type ChallengeBefore,
} from '#acme/orders/challenge-events.ts';
import { nextChallengeStep } from '#acme/orders/challenge-step.ts';
import {
  afterAccount,
  afterAuthorization,
  afterDownload,
  afterFailedChallenge,
  afterOrder,
  type OrderAfter,
  type OrderBefore,
} from '#acme/orders/order-events.ts';
import { nextOrderStep, type OrderStep } from '#acme/orders/order-step.ts';
import {
  NO_CHALLENGE_MEMORY,
  NO_ORDER_MEMORY,
  type ChallengeMemory,
  type OrderMemory,
} from '#acme/orders/memory.ts';
import { isFinalOrder, toWrite } from '#acme/orders/status.ts';
import { statusChanged } from '#acme/acme/store/write-status.ts';
import type { ChallengeObjectStatus } from '#api/acme/challenge.ts';
import type { OrderObjectStatus } from '#api/acme/order.ts';
import type { SimulatedCa } from './simulated-ca.ts';

/** Thrown where the process is killed. */
export class Killed extends Error {}

interface SimulatedChallenge {
  readonly url: string;
  readonly name: string;
  status: ChallengeObjectStatus;
  memory: ChallengeMemory;
  /** The status that was written last. */
  written?: object;
  /** When its solver tries again what it could not do. */
  solverUntil?: number;
}

/** As the loop of Challenges looks at a solver's clean-up. */
const SOLVER_MS = 60_000;

/** One Order and its Challenges on a virtual clock; each change of a status is one write. */
export class SimulatedLife {
  readonly ca: SimulatedCa;
  readonly names: readonly string[];
  status: OrderObjectStatus = {};
  memory: OrderMemory = NO_ORDER_MEMORY;
  readonly challenges = new Map<string, SimulatedChallenge>();
  now = 1_000_000;
  /** Boundaries between two calls or writes, passed so far, by name. */
  readonly boundaries: string[] = [];
  readonly steps: string[] = [];
  /** Statuses that the loops would write: one that changed, where the object waits or ends. */
  writes = 0;
  #written: object = {};
  /** At which boundary the process is killed, if at any. */
  killAt: number | undefined;
  abandoned = false;
  replaces = false;
  selfCheck: () => string | undefined = () => undefined;
  present: () => string | undefined = () => undefined;
  cleanUp: () => string | undefined = () => undefined;

  constructor(ca: SimulatedCa, names: readonly string[]) {
    this.ca = ca;
    this.names = names;
  }

  /** Goes on until nothing is left to do; a kill loses what was not written. */
  run(maxSteps = 500): void {
    for (let step = 0; step < maxSteps; step += 1) {
      try {
        if (!this.#once()) return;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        this.memory = NO_ORDER_MEMORY;
        for (const each of this.challenges.values()) each.memory = NO_CHALLENGE_MEMORY;
      }
    }
    throw new Error(`no end: ${this.steps.slice(-10).join(', ')}`);
  }

  /** One step of the Order or of a Challenge; where all wait, the clock moves. */
  #once(): boolean {
    const untils: number[] = [];
    for (const challenge of this.challenges.values()) {
      const until = this.#challengeStep(challenge);
      if (until === 'moved') return true;
      if (until !== undefined) untils.push(until);
    }
    const until = this.#orderStep();
    if (until === 'moved') return true;
    if (until !== undefined) untils.push(until);
    if (untils.length === 0) return false;
    this.now = Math.min(...untils);
    return true;
  }

  #write(before: object, status: object): object {
    const after = toWrite(status);
    if (!statusChanged(before, after)) return before;
    this.writes += 1;
    return after;
  }

  #boundary(name: string): void {
    this.boundaries.push(name);
    if (this.killAt === this.boundaries.length) throw new Killed(name);
  }

  #orderStep(): 'moved' | number | undefined {
    const challenges = [...this.challenges.values()].map(({ url, name, status }) => ({
      metadata: { name: url },
      spec: { authorizationURL: url, dnsName: name },
      status,
    }));
    const { status, memory, abandoned } = this;
    const { replaces } = this;
    const view = { status, memory, challenges, abandoned, replaces };
    const step = nextOrderStep(view, this.now);
    if (step.step === 'wait' || step.step === 'done' || step.step === 'cleanUp')
      this.#written = this.#write(this.#written, status);
    if (step.step === 'wait') return step.until;
    if (step.step === 'done') return undefined;
    if (step.step === 'cleanUp') return this.#deleteChallenges();
    this.#boundary(`before ${step.step}`);
    this.steps.push(step.step);
    if (step.step === 'createChallenge') {
      const found = status.authorizations?.find(({ url }) => url === step.authorization);
      const { url, name } = found ?? { url: '', name: '' };
      const made = { url, name, status: NEW_CHALLENGE, memory: NO_CHALLENGE_MEMORY };
      this.challenges.set(url, made);
      this.#boundary('after createChallenge');
      return 'moved';
    }
    const after = this.#call(step, { status, memory, uid: 'order', replaces, now: this.now });
    this.#boundary(`answer of ${step.step}`);
    this.status = after.status;
    this.#boundary(`written ${step.step}`);
    this.memory = after.memory;
    return 'moved';
  }

  #call(step: OrderStep, before: OrderBefore): OrderAfter {
    const url = this.status.url ?? '';
    switch (step.step) {
      case 'newOrder':
        return afterOrder(before, 'newOrder', this.ca.newOrder(this.names, step.replaces));
      case 'readOrder':
        return afterOrder(before, 'readOrder', this.ca.readOrder(url));
      case 'finalize':
        return afterOrder(before, 'finalize', this.ca.finalize(url));
      case 'readAuthorization':
        return afterAuthorization(before, this.ca.describe(step.url));
      case 'download':
        return afterDownload(before, this.ca.download());
      case 'readAccount':
        return afterAccount(before, this.ca.readAccount());
      case 'giveUp':
        return afterFailedChallenge(before, step.challenge.status);
      case 'createChallenge':
      case 'cleanUp':
      case 'wait':
      case 'done':
        throw new Error(step.step);
    }
  }

  /** The Order's end: its Challenges go when they are cleaned up. */
  #deleteChallenges(): 'moved' | undefined {
    for (const [key, challenge] of this.challenges) {
      const { status, memory } = challenge;
      const { step } = nextChallengeStep(status, memory, this.now, this.now);
      if (step !== 'done' && step !== 'giveUpCleanUp') continue;
      this.challenges.delete(key);
      return 'moved';
    }
    return undefined;
  }

  #challengeStep(challenge: SimulatedChallenge): 'moved' | number | undefined {
    const { status, memory, url } = challenge;
    const deletedAt = this.abandoned || isFinalOrder(this.status) ? this.now : undefined;
    const step = nextChallengeStep(status, memory, deletedAt, this.now);
    if (step.step === 'wait' || step.step === 'done')
      challenge.written = this.#write(challenge.written ?? {}, status);
    if (step.step === 'wait') return step.until;
    if (step.step === 'done' || step.step === 'giveUpCleanUp') return undefined;
    const isSolvers = step.step === 'present' || step.step === 'cleanUp';
    const { solverUntil = this.now } = challenge;
    if (isSolvers && this.now < solverUntil) return solverUntil;
    this.#boundary(`before ${step.step}`);
    this.steps.push(step.step);
    if (isSolvers && this[step.step]() !== undefined) {
      challenge.solverUntil = this.now + SOLVER_MS;
      return 'moved';
    }
    const before: ChallengeBefore = { status, memory, uid: url, now: this.now };
    const after = this.#challengeCall(step.step, challenge, before);
    this.#boundary(`answer of ${step.step}`);
    challenge.status = after.status;
    this.#boundary(`written ${step.step}`);
    challenge.memory = after.memory;
    return 'moved';
  }

  #challengeCall(
    step: Exclude<ReturnType<typeof nextChallengeStep>['step'], 'giveUpCleanUp' | 'wait' | 'done'>,
    { url, name }: SimulatedChallenge,
    before: ChallengeBefore,
  ): ChallengeAfter {
    const values = this.ca.records.get(name) ?? new Set();
    this.ca.records.set(name, values);
    switch (step) {
      case 'queue':
        return { status: afterScheduling(before.status), memory: before.memory };
      case 'readAuthorization':
        return afterReading(before, this.ca.readAuthorization(url));
      case 'present':
        // A solver adds its value to those that are there; again, it changes nothing.
        values.add(url);
        return afterPresenting(before);
      case 'selfCheck':
        return afterSelfCheck(before, values.has(url) ? this.selfCheck() : 'no record');
      case 'accept':
        return afterAccepting(before, this.ca.accept(url));
      case 'cleanUp':
        values.delete(url);
        return afterCleanUp(before);
      case 'expire':
        return afterExpiry(before);
      case 'release':
        return afterRelease(before);
    }
  }
}
