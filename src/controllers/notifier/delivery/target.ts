// SPDX-License-Identifier: Apache-2.0
/** Delivers to one target: one that is slow or away delays no other, and nothing that is watched. */
import { backoffDelay } from '../../../kube/wait/backoff.ts';
import { createWakeup } from '../../../kube/wait/wakeup.ts';
import { createReservations } from '../../../kube/workqueue/token-bucket.ts';
import type { Component } from '../../../runtime/component/component.ts';
import type { TargetEndpoint } from './endpoint.ts';
import { Outbox, type Outgoing, type OutboxLimits } from './outbox.ts';
import type { CallVerdict } from './verdict.ts';
import type { EventName } from '../../../api/object/event-names.ts';

/** A target, as flags name it. */
export interface TargetInit {
  readonly name: string;
  readonly endpoint: TargetEndpoint;
  /** What it is told. */
  readonly events: ReadonlySet<EventName>;
  /** Calls a second at most. */
  readonly perSecond: number;
  /** How long an event is tried. */
  readonly giveUpMs: number;
  readonly limits?: OutboxLimits;
  /** Called when it has answered 410. */
  readonly onGone?: () => void;
}

/** Why an event was not delivered: there was no room, the target refused it, or it was tried for too long. */
export type DropReason = 'full' | 'refused' | 'expired';

const LIMITS: OutboxLimits = { events: 10_000, size: 16 * 1024 * 1024 };
const RETRY = { firstMs: 1_000, maxMs: 300_000 };
const MOST_CALLS = 4;
/** Looks again, should a wakeup come to nothing. */
const IDLE_MS = 60_000;

/** Sends what is pushed, again and again until it is taken. */
export class NotifiedTarget {
  readonly name: string;
  readonly events: ReadonlySet<EventName>;
  readonly #component: Component;
  readonly #init: TargetInit;
  readonly #outbox: Outbox;
  readonly #wakeup;
  #reserve: () => number;
  #calls = new Set<Promise<void>>();
  #failures = 0;
  /** After a failure. */
  #pausedUntil = 0;
  /** For the sake of the rate. */
  #heldUntil = 0;
  #lookedForOld = 0;
  #isAsked = false;
  /** What went wrong last; undefined when a call has succeeded since. */
  fault: string | undefined;
  /** Since when it has taken none; milliseconds since 1970. */
  faultSince = 0;
  /** It said that it is retired: it gets nothing more from this process. */
  isGone = false;

  constructor(component: Component, init: TargetInit) {
    this.name = init.name;
    this.events = init.events;
    this.#component = component;
    this.#init = init;
    this.#outbox = new Outbox(init.limits ?? LIMITS);
    this.#wakeup = createWakeup(component.delay);
    this.#reserve = this.#reservations(init.perSecond);
    component.metrics.notificationTarget(this.name, this.#state());
  }

  /** All that was pushed and is neither delivered nor given up. */
  pending(): Iterable<Outgoing> {
    return this.#outbox.pending();
  }

  push(event: Omit<Outgoing, 'since'>): void {
    if (this.isGone) return;
    const since = this.#component.clock();
    this.#dropped(this.#outbox.push({ ...event, since }), 'full');
    this.#measure();
    this.#wakeup.wake();
  }

  /** Another process sends from now on. */
  clear(): void {
    this.#outbox.clear();
    this.#measure();
  }

  /** Sends until `signal` is aborted, and waits for the calls in flight. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await this.#wakeup.wait(this.#step(), signal);
    await Promise.all(this.#calls);
  }

  /** Begins the next call, if it may begin now. Returns in how many milliseconds to look again. */
  #step(): number {
    const { clock } = this.#component;
    for (;;) {
      this.#giveUp(clock());
      const pause = Math.max(this.#pausedUntil, this.#heldUntil) - clock();
      if (pause > 0) return pause;
      // After a failure one call shows whether it is there again.
      const most = this.#failures > 0 || !this.#isAsked ? 1 : MOST_CALLS;
      if (this.isGone || this.#calls.size >= most) return IDLE_MS;
      const event = this.#outbox.next(clock());
      if (event === undefined) return this.#untilRested(clock());
      this.#heldUntil = clock() + this.#reserve();
      this.#begin(event);
    }
  }

  #untilRested(now: number): number {
    const end = this.#outbox.restsUntil();
    // One of a flow that rests may be in flight: its end wakes.
    return end > now ? Math.min(IDLE_MS, end - now) : IDLE_MS;
  }

  /** What a target that is gone has not taken stays: where a next process begins depends on it. */
  #giveUp(now: number): void {
    if (this.isGone || now - this.#lookedForOld < IDLE_MS) return;
    this.#lookedForOld = now;
    this.#dropped(this.#outbox.takeOlder(now - this.#init.giveUpMs), 'expired');
  }

  #begin(event: Outgoing): void {
    const call = this.#deliver(event).finally(() => {
      this.#calls.delete(call);
      this.#measure();
      this.#wakeup.wake();
    });
    this.#calls.add(call);
  }

  async #deliver(event: Outgoing): Promise<void> {
    const verdict = await this.#verdictOn(event);
    this.#component.metrics.notified(this.name, verdict.kind);
    if (verdict.kind === 'later') {
      this.#waits(verdict.why);
      if (verdict.of === 'flow') this.#flowFailed(event);
      else this.#failed(event, verdict.afterMs);
      return;
    }
    if (verdict.kind === 'gone') {
      this.#outbox.back(event);
      this.#gone();
      return;
    }
    this.#outbox.done(event);
    this.#recovered();
    if (verdict.kind === 'refused') this.#refused(event, verdict.why);
  }

  async #verdictOn(event: Outgoing): Promise<CallVerdict> {
    if (!this.#isAsked) {
      const { perSecond, ...answer } = await this.#init.endpoint.ask();
      if (answer.kind !== 'delivered') return asLater(answer);
      this.#isAsked = true;
      if (perSecond !== undefined)
        this.#reserve = this.#reservations(Math.min(perSecond, this.#init.perSecond));
    }
    return this.#init.endpoint.post(event);
  }

  #waits(why: string): void {
    const { clock, log } = this.#component;
    if (this.fault === undefined) this.faultSince = clock();
    if (this.fault !== why) log.warn({ target: this.name, error: why }, 'a notification waits');
    this.fault = why;
  }

  #failed(event: Outgoing, afterMs = 0): void {
    const { clock, random } = this.#component;
    const now = clock();
    this.#outbox.back(event);
    // Calls that were in flight together are one failure.
    if (this.#failures === 0 || this.#pausedUntil <= now) this.#failures += 1;
    const pause = Math.max(afterMs, backoffDelay(this.#failures - 1, { ...RETRY, random }));
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pause);
  }

  /** The target is there: other flows go on. */
  #flowFailed(event: Outgoing): void {
    const { clock, random } = this.#component;
    this.#failures = 0;
    this.#outbox.rest(event, clock(), (failures) => backoffDelay(failures, { ...RETRY, random }));
  }

  #recovered(): void {
    if (this.fault !== undefined)
      this.#component.log.info({ target: this.name }, 'notifications are taken again');
    this.fault = undefined;
    this.#failures = 0;
  }

  #gone(): void {
    this.isGone = true;
    this.fault = 'it answers 410: it is retired, and gets nothing until notifier starts anew';
    this.faultSince = this.#component.clock();
    this.#component.log.error({ target: this.name }, 'a target of notifications is gone (410)');
    this.#init.onGone?.();
  }

  #refused(event: Outgoing, why: string): void {
    this.#component.log.warn(
      { target: this.name, event: event.id, error: why },
      'a notification is refused',
    );
    this.#dropped([event], 'refused');
  }

  #dropped(events: readonly Outgoing[], reason: DropReason): void {
    if (events.length > 0)
      this.#component.metrics.notificationsDropped(this.name, reason, events.length);
  }

  #measure(): void {
    this.#component.metrics.notificationTarget(this.name, this.#state());
  }

  #state(): { readonly pending: number; readonly failingSince: number; readonly isGone: boolean } {
    const failingSince = this.fault === undefined ? 0 : this.faultSince / 1000;
    return { pending: this.#outbox.length, failingSince, isGone: this.isGone };
  }

  #reservations(perSecond: number): () => number {
    const { clock } = this.#component;
    return createReservations({ burst: Math.max(1, perSecond), perSecond, clock });
  }
}

/** That it does not want this event would be no answer to the question. */
function asLater(verdict: Exclude<CallVerdict, { kind: 'delivered' }>): CallVerdict {
  return verdict.kind === 'refused' ? { kind: 'later', why: verdict.why } : verdict;
}
