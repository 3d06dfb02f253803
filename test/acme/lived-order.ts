// SPDX-License-Identifier: Apache-2.0
import { Resolver } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { acceptTheChallenge, presentedValue, readChallenge } from '#acme/issuing/index.ts';
import { takeOrderStep, type OrderRequest } from '#acme/issuing/order-calls.ts';
import type { AcmeSession } from '#acme/issuing/session.ts';
import {
  afterCleanUp,
  afterPresenting,
  afterScheduling,
  afterSelfCheck,
  afterFailedChallenge,
  NEW_CHALLENGE,
  nextChallengeStep,
  nextOrderStep,
  NO_CHALLENGE_MEMORY,
  NO_ORDER_MEMORY,
} from '#acme/orders/index.ts';
import type { ChallengeAfter } from '#acme/orders/challenge-events.ts';
import type { ChallengeMemory } from '#acme/orders/memory.ts';
import { isFinalOrder, type OfferedChallenge } from '#acme/orders/status.ts';
import type { ChallengeObjectStatus } from '#api/acme/challenge.ts';
import type { OrderObjectStatus } from '#api/acme/order.ts';
import type { Pebble } from './pebble.ts';

/**
 * Values of DNS-01 in Pebble's DNS server, which forgets a name as a whole: with the last value.
 */
export class TxtRecords {
  readonly #pebble: Pebble;
  readonly #resolver = new Resolver();
  readonly #values = new Map<string, Set<string>>();

  constructor(pebble: Pebble) {
    this.#pebble = pebble;
    this.#resolver.setServers([pebble.dns]);
  }

  async add(name: string, value: string): Promise<void> {
    const values = this.#values.get(name) ?? new Set();
    if (values.has(value)) return;
    this.#values.set(name, values.add(value));
    await this.#pebble.change('add-txt', `${name}.`, value);
  }

  async remove(name: string, value: string): Promise<void> {
    const values = this.#values.get(name) ?? new Set();
    // Without the others for a moment, the CA would find none of them: one too many does no harm.
    if (values.delete(value) && values.size === 0)
      await this.#pebble.change('clear-txt', `${name}.`);
  }

  async has(name: string, value: string): Promise<boolean> {
    const found = await this.#resolver.resolveTxt(name).catch(() => []);
    return found.some((parts) => parts.join('') === value);
  }

  get left(): readonly string[] {
    return [...this.#values.values()].flatMap((values) => [...values]);
  }
}

interface LivedChallenge {
  readonly name: string;
  readonly authorizationUrl: string;
  readonly offered: OfferedChallenge;
  status: ChallengeObjectStatus;
  memory: ChallengeMemory;
}

/** A moment of the real server, while the virtual clock jumps to the next attempt. */
const MOMENT_MS = 20;

/** One Order with a real server, on a clock of its own that jumps over waits. */
export class LivedOrder {
  readonly #session: AcmeSession;
  readonly #request: OrderRequest;
  readonly #records: TxtRecords;
  readonly #challenges = new Map<string, LivedChallenge>();
  readonly #uid: string;
  status: OrderObjectStatus = {};
  memory = NO_ORDER_MEMORY;
  now = Date.now();
  readonly reasons = new Set<string>();

  constructor(session: AcmeSession, request: OrderRequest, records: TxtRecords, uid: string) {
    this.#session = session;
    this.#request = request;
    this.#records = records;
    this.#uid = uid;
  }

  async run(): Promise<void> {
    for (let step = 0; step < 2000; step += 1) {
      const untils: number[] = [];
      const moved = (await this.#challengesMove(untils)) || (await this.#orderMoves(untils));
      if (this.status.reason !== undefined) this.reasons.add(this.status.reason);
      // Waiting is skipped; what really passes counts as well.
      this.now = Math.max(this.now, Date.now());
      if (moved) continue;
      if (untils.length === 0) return;
      this.now = Math.min(...untils);
      await delay(MOMENT_MS);
    }
    throw new Error(`no end: ${JSON.stringify(this.status)}`);
  }

  async #challengesMove(untils: number[]): Promise<boolean> {
    for (const challenge of this.#challenges.values()) {
      const { status, memory, name } = challenge;
      const deletedAt = isFinalOrder(this.status) ? this.now : undefined;
      const step = nextChallengeStep(status, memory, deletedAt, this.now);
      if (step.step === 'wait') untils.push(step.until);
      if (['wait', 'done', 'giveUpCleanUp'].includes(step.step)) continue;
      const after = await this.#challengeStep(step.step, challenge, `_acme-challenge.${name}`);
      challenge.status = after.status;
      challenge.memory = after.memory;
      return true;
    }
    return false;
  }

  async #challengeStep(
    step: string,
    challenge: LivedChallenge,
    at: string,
  ): Promise<ChallengeAfter> {
    const { status, memory, offered, authorizationUrl } = challenge;
    const before = { status, memory, uid: offered.url, now: this.now };
    const target = { authorizationUrl, url: offered.url, type: 'dns-01' } as const;
    const value = presentedValue(this.#session, 'dns-01', offered) ?? '';
    switch (step) {
      case 'queue':
        return { status: afterScheduling(status), memory };
      case 'readAuthorization':
        return readChallenge(this.#session, target, before);
      case 'present':
        await this.#records.add(at, value);
        return afterPresenting(before);
      case 'selfCheck':
        return afterSelfCheck(before, (await this.#records.has(at, value)) ? undefined : 'none');
      case 'accept':
        return acceptTheChallenge(this.#session, target, before);
      case 'cleanUp':
        await this.#records.remove(at, value);
        return afterCleanUp(before);
      default:
        throw new Error(step);
    }
  }

  async #orderMoves(untils: number[]): Promise<boolean> {
    const { status, memory, now } = this;
    const challenges = [...this.#challenges.values()].map((each) => ({
      metadata: { name: each.name },
      spec: { authorizationURL: each.authorizationUrl, dnsName: each.name },
      status: each.status,
    }));
    const replaces = this.#request.replaces !== undefined;
    const view = { status, memory, challenges, replaces, abandoned: false };
    const step = nextOrderStep(view, now);
    switch (step.step) {
      case 'wait':
        if (step.until !== undefined) untils.push(step.until);
        return false;
      case 'done':
        return false;
      case 'cleanUp':
        return this.#forgetChallenges();
      case 'createChallenge':
        this.#create(step.authorization);
        return true;
      case 'newOrder':
      case 'readOrder':
      case 'readAccount':
      case 'readAuthorization':
      case 'finalize':
      case 'download':
      case 'giveUp': {
        const before = { status, memory, uid: this.#uid, replaces, now };
        const after =
          step.step === 'giveUp'
            ? afterFailedChallenge(before, step.challenge.status)
            : await takeOrderStep(this.#session, this.#request, step, before);
        this.status = after.status;
        this.memory = after.memory;
        return true;
      }
    }
  }

  #create(authorizationUrl: string): void {
    const found = this.status.authorizations?.find(({ url }) => url === authorizationUrl);
    const offered = found?.offered?.find(({ type }) => type === 'dns-01');
    if (found === undefined || offered === undefined) throw new Error('no dns-01 is offered');
    const { name } = found;
    const made = { name, authorizationUrl, offered };
    this.#challenges.set(authorizationUrl, {
      ...made,
      status: NEW_CHALLENGE,
      memory: NO_CHALLENGE_MEMORY,
    });
  }

  #forgetChallenges(): boolean {
    for (const [url, { status, memory }] of this.#challenges) {
      if (nextChallengeStep(status, memory, this.now, this.now).step !== 'done') continue;
      this.#challenges.delete(url);
      return true;
    }
    return false;
  }
}
