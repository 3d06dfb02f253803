// SPDX-License-Identifier: Apache-2.0
/** Delivers to one target. A slow or unavailable target delays no other target and no watch. */
import { backoffDelay } from '#kube/wait/backoff.ts';
import { createWakeup } from '#kube/wait/wakeup.ts';
import { createReservations } from '#kube/workqueue/token-bucket.ts';
import type { Component } from '#component/contract.ts';
import type { TargetEndpoint } from './endpoint.ts';
import { Outbox, type OutgoingEvent, type OutboxLimits } from './outbox.ts';
import type { CallVerdict } from './verdict.ts';
import type { EventName } from '#api/object/event-names.ts';
import * as messages from '../messages.ts';
import type { TableSeries } from '#component/metric.ts';
import { NOTIFICATION_SERIES } from '../metrics.ts';

/** A target, as configured by flags. */
export interface TargetInit {
  readonly name: string;
  readonly endpoint: TargetEndpoint;
  /** Names of the events to send. */
  readonly events: ReadonlySet<EventName>;
  /** Calls per second at most. */
  readonly perSecond: number;
  /** How long an event is retried. */
  readonly deliveryTimeoutMs: number;
  readonly limits?: OutboxLimits;
  /** Called after a 410 response. */
  readonly onGone?: () => void;
}

/**
 * Why an event was dropped: the outbox was full, the target rejected it, or its timeout expired.
 */
export type DropReason = 'full' | 'refused' | 'expired';

const LIMITS: OutboxLimits = { events: 10_000, size: 16 * 1024 * 1024 };
const RETRY = { firstMs: 1_000, maxMs: 300_000 };
const MAX_CONCURRENT_CALLS = 4;
/** Longest sleep, in case a wakeup is lost. */
const IDLE_MS = 60_000;

/**
 * Delivers pushed events. Retries until the target accepts or rejects an event, or its timeout
 * expires.
 */
export class NotifiedTarget {
  readonly name: string;
  readonly events: ReadonlySet<EventName>;
  readonly #component: Component;
  readonly #series: TableSeries<typeof NOTIFICATION_SERIES>;
  readonly #init: TargetInit;
  readonly #outbox: Outbox;
  readonly #wakeup;
  #reserve: () => number;
  #calls = new Set<Promise<void>>();
  #failures = 0;
  /** End of the pause after a failure. */
  #pausedUntil = 0;
  /** End of the pause for the rate limit. */
  #heldUntil = 0;
  #lookedForOld = 0;
  #isAsked = false;
  /** Last error. Undefined after a successful call. */
  fault: string | undefined;
  /** Time since which no event was taken, in milliseconds since 1970. */
  faultSince = 0;
  /** Whether the target returned 410. It gets no more events from this process. */
  isGone = false;

  constructor(component: Component, init: TargetInit) {
    this.name = init.name;
    this.events = init.events;
    this.#component = component;
    this.#series = component.metrics.of(NOTIFICATION_SERIES);
    this.#init = init;
    this.#outbox = new Outbox(init.limits ?? LIMITS);
    this.#wakeup = createWakeup(component.delay);
    this.#reserve = this.#reservations(init.perSecond);
    this.#measure();
  }

  /** Returns the events that are neither delivered nor given up. */
  pending(): Iterable<OutgoingEvent> {
    return this.#outbox.pending();
  }

  push(event: Omit<OutgoingEvent, 'since'>): void {
    if (this.isGone) return;
    const since = this.#component.clock();
    this.#dropped(this.#outbox.push({ ...event, since }), 'full');
    this.#measure();
    this.#wakeup.wake();
  }

  /**
   * Drops all events and the fault, because another process sends from now on. A retired target
   * stays one.
   */
  clear(): void {
    this.#outbox.clear();
    if (!this.isGone) this.fault = undefined;
    this.#measure();
  }

  /** Sends until `signal` is aborted, and waits for the calls in flight. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await this.#wakeup.wait(this.#step(), signal);
    await Promise.all(this.#calls);
  }

  /** Begins calls as the limits permit. Returns the milliseconds until the next step. */
  #step(): number {
    const { clock } = this.#component;
    for (;;) {
      this.#giveUp(clock());
      const pause = Math.max(this.#pausedUntil, this.#heldUntil) - clock();
      if (pause > 0) return pause;
      // After a failure, one call probes whether the target is available.
      const most = this.#failures > 0 || !this.#isAsked ? 1 : MAX_CONCURRENT_CALLS;
      if (this.isGone || this.#calls.size >= most) return IDLE_MS;
      const event = this.#outbox.next(clock());
      if (event === undefined) return this.#untilRested(clock());
      this.#heldUntil = clock() + this.#reserve();
      this.#begin(event);
    }
  }

  #untilRested(now: number): number {
    const end = this.#outbox.restsUntil();
    // An event of a paused flow may be in flight. Its end wakes the loop.
    return end > now ? Math.min(IDLE_MS, end - now) : IDLE_MS;
  }

  /**
   * Drops expired events. It keeps those of a retired target, because the cursor depends on them.
   */
  #giveUp(now: number): void {
    if (this.isGone || now - this.#lookedForOld < IDLE_MS) return;
    this.#lookedForOld = now;
    this.#dropped(this.#outbox.takeOlder(now - this.#init.deliveryTimeoutMs), 'expired');
  }

  #begin(event: OutgoingEvent): void {
    const call = this.#deliver(event).finally(() => {
      this.#calls.delete(call);
      this.#measure();
      this.#wakeup.wake();
    });
    this.#calls.add(call);
  }

  async #deliver(event: OutgoingEvent): Promise<void> {
    const verdict = await this.#verdictOn(event);
    this.#series.calls.inc({ target: this.name, outcome: verdict.kind });
    // Another process sends by now, and learns of faults itself.
    if (!this.#outbox.isSending(event)) return;
    if (verdict.kind === 'later') {
      this.#waits(verdict.why);
      if (verdict.of === 'flow') this.#flowFailed(event);
      else this.#failed(event, verdict.afterMs);
      return;
    }
    if (verdict.kind === 'gone') {
      this.#outbox.putBack(event);
      this.#gone();
      return;
    }
    this.#outbox.done(event);
    this.#recovered();
    if (verdict.kind === 'refused') this.#refused(event, verdict.why);
  }

  async #verdictOn(event: OutgoingEvent): Promise<CallVerdict> {
    if (!this.#isAsked) {
      const { perSecond, ...answer } = await this.#init.endpoint.handshake();
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
    if (this.fault !== why)
      log.warn({ target: this.name, error: why }, messages.NOTIFICATION_DELAYED);
    this.fault = why;
  }

  #failed(event: OutgoingEvent, afterMs = 0): void {
    const { clock, random } = this.#component;
    const now = clock();
    this.#outbox.putBack(event);
    // Failures of concurrent calls count once.
    if (this.#failures === 0 || this.#pausedUntil <= now) this.#failures += 1;
    const pause = Math.max(afterMs, backoffDelay(this.#failures - 1, { ...RETRY, random }));
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pause);
  }

  /** Pauses one flow. The target is available, so the other flows continue. */
  #flowFailed(event: OutgoingEvent): void {
    const { clock, random } = this.#component;
    this.#failures = 0;
    this.#outbox.putBackAndPause(event, clock(), (failures) =>
      backoffDelay(failures, { ...RETRY, random }),
    );
  }

  #recovered(): void {
    if (this.fault !== undefined)
      this.#component.log.info({ target: this.name }, messages.NOTIFICATIONS_RESUMED);
    this.fault = undefined;
    this.#failures = 0;
  }

  #gone(): void {
    this.isGone = true;
    this.fault = messages.RETURNED_GONE;
    this.faultSince = this.#component.clock();
    this.#component.log.error({ target: this.name }, messages.TARGET_GONE);
    this.#init.onGone?.();
  }

  #refused(event: OutgoingEvent, why: string): void {
    this.#component.log.warn(
      { target: this.name, event: event.id, error: why },
      messages.NOTIFICATION_REFUSED,
    );
    this.#dropped([event], 'refused');
  }

  #dropped(events: readonly OutgoingEvent[], reason: DropReason): void {
    if (events.length > 0) this.#series.dropped.inc({ target: this.name, reason }, events.length);
  }

  #measure(): void {
    const { pending, failing, gone } = this.#series;
    const target = { target: this.name };
    pending.set(target, this.#outbox.length);
    failing.set(target, this.fault === undefined ? 0 : this.faultSince / 1000);
    gone.set(target, Number(this.isGone));
  }

  #reservations(perSecond: number): () => number {
    const { clock } = this.#component;
    return createReservations({ burst: Math.max(1, perSecond), perSecond, clock });
  }
}

/** Turns a rejection of the handshake into a retry, because it does not concern the event. */
function asLater(verdict: Exclude<CallVerdict, { kind: 'delivered' }>): CallVerdict {
  return verdict.kind === 'refused' ? { kind: 'later', why: verdict.why } : verdict;
}
