// SPDX-License-Identifier: Apache-2.0
/** The CA of each signer: checked, paused and held. The only writer of the signers' statuses. */
import type { ExternalSigner, ExternalSignerStatus } from '#api/external/external-signer.ts';
import { engineOf } from '#api/signer/upstream-vault.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { formatTime } from '#api/object/time.ts';
import { findCondition } from '#api/request/conditions.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Validity } from '#ca/issuance/validity.ts';
import type { Component } from '#component/contract.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import { EXTERNAL_SIGNERS, type ExternalSigners } from '#component/signers/external-signers.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { withoutManagedFields } from '#kube/resource/object.ts';
import { backoffDelay } from '#kube/wait/backoff.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import { reportRetry } from '../loop/error-outcome.ts';
import { writeSubresource } from '../loop/subresource-write.ts';
import type { Backend } from './backend.ts';
import { createCallGate, type CallGate } from './call-gate.ts';
import { longerHold, REFUSED_ANSWER_DELAYS, YIELD_DELAYS, type Hold } from './holds.ts';
import { EXTERNAL_SERIES } from './metrics.ts';
import * as messages from './messages.ts';
import { holdOf, readiness, unready, withStatus, type Ready } from './status.ts';

export interface AuthoritiesInit {
  readonly component: Component;
  readonly signers: ExternalSigners;
  readonly openBackend: (signer: ExternalSigner) => Backend;
}

/** A CA that can be called now. */
export interface UsableAuthority {
  readonly backend: Backend;
  readonly gate: CallGate;
  readonly validity: Validity;
}

/** State of one signer outside its object. */
interface ExternalSignerState {
  readonly signerName: string;
  /** Generation of the signer for which the backend was opened. */
  readonly generation: number | undefined;
  readonly backend: Backend;
  readonly gate: CallGate;
  /** Result of the last check, or undefined before the first one. */
  validity?: Validity | undefined;
  /** Reason for which it cannot be used. Undefined if it can. */
  fault: string | undefined;
  failures: number;
  /** Denials that stopped it in a row, and the time by our clock before which it is not checked. */
  denials: number;
  deniedUntil: number;
  /**
   * Denial to show while its requests are ordered, since no other flow was served. `at` is when the
   * last one came, by our clock.
   */
  shownDenial?: { readonly problem: string; readonly at: number } | undefined;
  hold?: Hold | undefined;
  /** Holds of namespaces and users, by their flow. */
  readonly flows: BoundedMap<string, Hold>;
  /** Flows with a refused answer since the last one that was accepted. */
  readonly refused: Set<string>;
  /** Flows with a denied order since the last accepted answer. */
  readonly denied: Set<string>;
}

/** Signers at once, apart from those that wait for their CA. */
const AUTHORITY_WORKERS = 4;
/** Interval of the checks of a CA that issues. A changed role is seen within it. */
const RECHECK_MS = 240_000;
/** Delays between checks of a CA that issues nothing. */
const FIRST_CHECK_MS = 2_000;
const MAX_CHECK_MS = 300_000;
/** Namespaces and users whose refusals are counted. */
const MAX_HELD_FLOWS = 1_000;
/**
 * Flows in a row whose answers are refused, or whose orders are denied, before the whole signer is
 * held. The requests of one namespace or user must not stop the others.
 */
const FLOWS_TO_HOLD = 2;
/** Time to show a denial without another one. Exceeds the longest hold of an order that repeats. */
const SHOWN_DENIAL_MS = 2 * RECHECK_MS;
/** Shorter pauses are not written to the status, since each would cost two writes. */
const SHOWN_PAUSE_MS = 10_000;

export class Authorities {
  readonly #init: AuthoritiesInit;
  readonly #component: Component;
  readonly #held = new Map<string, ExternalSignerState>();
  /** Gates by CA: signers that name one secrets engine share its limiter. */
  readonly #gates = new Map<string, CallGate>();
  readonly #listeners: ((signerName: string) => void)[] = [];
  /** True from the stop on, when nothing more is ordered. A check may still run. */
  #isStopped = false;

  constructor(init: AuthoritiesInit) {
    const { component, signers } = init;
    this.#init = init;
    this.#component = { ...component, ...component.anotherLoop('authorities') };
    const { queue, shard } = this.#component;
    signers.onChange((_names, keys) => {
      for (const key of keys) queue.add(key);
    });
    shard.onChange(() => {
      for (const { metadata } of signers.all()) queue.add(keyOf(metadata));
    });
  }

  /** Calls the listener with the name of a signer that can be used again. */
  readonly onChange = (listener: (signerName: string) => void): void => {
    this.#listeners.push(listener);
  };

  /** Returns why the signer's requests wait, or undefined if they can be ordered. */
  readonly waitsFor = ({ metadata }: ExternalSigner): string | undefined => {
    const key = keyOf(metadata);
    if (!this.#component.shard.owns(key)) return messages.NOT_LEADER;
    const held = this.#held.get(key);
    if (held === undefined || held.generation !== metadata.generation) return messages.NOT_CHECKED;
    const pausedUntil = held.gate.pausedUntil();
    if (pausedUntil === undefined) return held.fault;
    const seconds = Math.ceil((pausedUntil - this.#component.clock()) / 1000);
    return messages.paused(seconds, held.fault ?? '');
  };

  /** Returns the CA of a signer, or undefined while its requests wait. */
  readonly usable = (signer: ExternalSigner): UsableAuthority | undefined => {
    if (this.#isStopped || this.waitsFor(signer) !== undefined) return undefined;
    const { backend, gate, validity } = this.#held.get(keyOf(signer.metadata)) ?? {};
    if (backend === undefined || gate === undefined || validity === undefined) return undefined;
    return { backend, gate, validity };
  };

  /**
   * Reports an order that the CA denied. The login may have ended, so the check follows at once.
   * If the same flow is denied again, its names may be the cause, and it lets the others go first.
   * If two flows are denied without an accepted answer between them, the signer waits.
   */
  readonly denied = ({ metadata }: ExternalSigner, flow: string, problem: string): void => {
    const key = keyOf(metadata);
    const held = this.#held.get(key);
    // Orders that ran side by side are denied for one cause, which counts once.
    if (held === undefined || held.fault !== undefined) return;
    const { clock, random, queue } = this.#component;
    const before = held.flows.get(flow);
    const isRepeated = held.denied.has(flow);
    held.denied.add(flow);
    if (before !== undefined && held.denied.size < FLOWS_TO_HOLD) {
      this.#yield(held, flow, problem, 0);
      if (!isRepeated || before.count === 0) return;
      // No other flow was served meanwhile, so the policy in Vault may deny all of them.
      held.shownDenial = { problem, at: clock() };
      queue.add(key);
      return;
    }
    const init = { firstMs: FIRST_CHECK_MS, maxMs: MAX_CHECK_MS, random };
    const delay = held.denials === 0 ? 0 : backoffDelay(held.denials, init);
    held.deniedUntil = clock() + delay;
    held.denials += 1;
    held.fault = problem;
    if (delay > 0) this.#yield(held, flow, problem, delay);
    else held.flows.set(flow, { until: 0, count: 0, problem });
    queue.add(key);
  };

  /**
   * Reports an order that the CA did not serve. The gate is paused already.
   *
   * @param flow - the flow that lets others go first afterwards, if its names may be the cause
   */
  readonly unserved = ({ metadata }: ExternalSigner, problem: string, flow?: string): void => {
    const held = this.#held.get(keyOf(metadata));
    if (held === undefined) return;
    held.fault = problem;
    const now = this.#component.clock();
    const leftMs = Math.max(0, (held.gate.pausedUntil() ?? 0) - now);
    if (flow !== undefined) this.#yield(held, flow, problem, leftMs);
  };

  /** Returns the hold of a namespace or user. */
  readonly flowHold = ({ metadata }: ExternalSigner, flow: string): Hold | undefined => {
    const hold = this.#held.get(keyOf(metadata))?.flows.get(flow);
    return hold !== undefined && serverTime(this.#component) < hold.until ? hold : undefined;
  };

  /**
   * Reports an answer that was refused. Nothing more is ordered for this namespace or user for a
   * while. After refusals of several, nothing is ordered for the whole signer.
   */
  readonly refusedAnswer = (signer: ExternalSigner, flow: string, problem: string): void => {
    const key = keyOf(signer.metadata);
    const held = this.#held.get(key);
    const { queue, metrics } = this.#component;
    metrics.of(EXTERNAL_SERIES).refusedAnswers.inc({ signer: signer.spec.signerName });
    if (held === undefined) return;
    const { random } = this.#component;
    const start = { from: serverTime(this.#component), delays: REFUSED_ANSWER_DELAYS, random };
    held.flows.set(flow, longerHold(held.flows.get(flow), problem, start));
    held.refused.add(flow);
    if (held.refused.size < FLOWS_TO_HOLD) return;
    const hold = longerHold(held.hold, problem, start);
    held.hold = hold;
    held.fault = messages.answersRefused(hold.count, formatTime(hold.until), problem);
    queue.add(key);
  };

  /** Reports an answer that was accepted. */
  readonly acceptedAnswer = ({ metadata }: ExternalSigner, flow: string): void => {
    const held = this.#held.get(keyOf(metadata));
    if (held === undefined) return;
    held.flows.delete(flow);
    held.refused.clear();
    held.denied.clear();
    held.denials = 0;
    if (held.hold === undefined && held.shownDenial === undefined) return;
    held.hold = undefined;
    held.shownDenial = undefined;
    this.#component.queue.add(keyOf(metadata));
  };

  readonly run = async (signal: AbortSignal): Promise<void> => {
    const component = this.#component;
    signal.addEventListener('abort', () => (this.#isStopped = true), { once: true });
    await runLoop(
      {
        ...component,
        workers: AUTHORITY_WORKERS,
        handle: (key) => this.#reconcile(key),
        onError: (key, error) => {
          reportRetry(component, error, { noun: 'signer', named: { key }, regarding: undefined });
        },
      },
      signal,
    );
    await Promise.all([...this.#held.keys()].map((key) => this.#forget(key)));
  };

  /** Holds a flow for longer than the signer, so that another flow goes first. */
  #yield(held: ExternalSignerState, flow: string, problem: string, afterMs: number): void {
    const { random } = this.#component;
    const now = serverTime(this.#component);
    const before = held.flows.get(flow);
    // Orders that ran side by side fail for one cause, which counts once.
    if (before !== undefined && now < before.until) return;
    const start = { from: now + afterMs, delays: YIELD_DELAYS, random };
    held.flows.set(flow, longerHold(before, problem, start));
  }

  /** Notes a check that succeeded. */
  #open(held: ExternalSignerState, validity: Validity): void {
    if (held.fault !== undefined) this.#letOthersFirst(held);
    const { at = 0 } = held.shownDenial ?? {};
    if (this.#component.clock() - at > SHOWN_DENIAL_MS) held.shownDenial = undefined;
    held.validity = validity;
    held.fault = undefined;
    held.failures = 0;
  }

  /**
   * Holds the flows that failed for a moment longer than the signer. The holds of most ended while
   * the signer waited, and one of them would go first and fail at each reopening. The first flow
   * that is denied comes again at once, since its login may have ended.
   */
  #letOthersFirst({ flows, denied }: ExternalSignerState): void {
    const until = serverTime(this.#component) + YIELD_DELAYS.firstMs;
    for (const [flow, hold] of [...flows.entries()]) {
      const isFirst = hold.count === 0 && denied.size < FLOWS_TO_HOLD;
      if (!isFirst && hold.until < until) flows.set(flow, { ...hold, until });
    }
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { signers } = this.#init;
    if (!signers.settled) return undefined;
    const signer = signers.get(key);
    const faulty = signers.faulty(key);
    if (!this.#component.shard.owns(key) || (signer === undefined && faulty === undefined)) {
      await this.#forget(key);
      return undefined;
    }
    if (faulty !== undefined || signer === undefined) {
      await this.#forget(key);
      if (faulty === undefined) return undefined;
      const { object, error } = faulty;
      return this.#say({ status: {}, ...object }, unready('SpecInvalid', error.message));
    }
    const rival = signers.rivalOf(key);
    if (rival !== undefined) {
      await this.#forget(key);
      const message = messages.signerNameTaken(rival, signer.spec.signerName);
      return this.#say(signer, unready('SignerNameConflict', message));
    }
    return this.#look(key, signer, await this.#of(key, signer));
  }

  /** Checks the CA, unless it is held, denied or paused. */
  async #look(
    key: string,
    signer: ExternalSigner,
    held: ExternalSignerState,
  ): Promise<ReconcileResult> {
    const component = this.#component;
    const anchors = attempt(() => readAnchors(signer.spec.authority.anchors));
    if (anchors instanceof SignerError) {
      // No chain would lead to them, and each order may cost a certificate.
      held.fault = messages.unreadableAnchors(anchors.message);
      return this.#say(signer, unready('SpecInvalid', held.fault));
    }
    const before = await this.#waits(signer, held);
    if (before !== undefined) return before;
    // Other signers use the worker while this one waits for its CA.
    const state = await component.concurrency.lend(() => held.backend.check());
    // Another generation has a backend of its own.
    if (this.#held.get(key) !== held) return { requeueAt: component.clock() };
    // While the check ran, an answer may have been refused.
    const meanwhile = await this.#waits(signer, held);
    if (meanwhile !== undefined) return meanwhile;
    if (state.ready) {
      this.#open(held, state.validity);
      // Requests do not wait for the write of the status, which the API server may deny.
      this.#announce(signer);
      await this.#say(signer, readiness(anchors, held.shownDenial?.problem, serverTime(component)));
      return { requeueAt: component.clock() + RECHECK_MS };
    }
    const { reason, message, retryAfterMs = 0 } = state;
    held.fault = message;
    await this.#say(signer, unready(reason, message), held.hold);
    const init = { firstMs: FIRST_CHECK_MS, maxMs: MAX_CHECK_MS, random: component.random };
    // A check orders nothing, so this finds a server soon after it is back, whatever it requested.
    const delay = Math.max(backoffDelay(held.failures, init), Math.min(retryAfterMs, MAX_CHECK_MS));
    held.failures += 1;
    return { requeueAt: component.clock() + delay };
  }

  /** Returns when to look again at a CA that may not be called now, and shows why. */
  async #waits(
    signer: ExternalSigner,
    { hold, deniedUntil, gate, fault = '' }: ExternalSignerState,
  ): Promise<Exclude<ReconcileResult, 'backoff'>> {
    const component = this.#component;
    if (hold !== undefined && serverTime(component) < hold.until) {
      await this.#say(signer, unready('AnswerRefused', fault), hold);
      return requeueAt(component, hold.until);
    }
    if (component.clock() < deniedUntil) {
      await this.#say(signer, unready('RequestDenied', fault));
      return { requeueAt: deniedUntil };
    }
    const pausedUntil = gate.pausedUntil();
    if (pausedUntil === undefined) return undefined;
    const leftMs = pausedUntil - component.clock();
    const message = messages.paused(Math.ceil(leftMs / 1000), fault);
    if (leftMs >= SHOWN_PAUSE_MS) await this.#say(signer, unready('Paused', message));
    return { requeueAt: pausedUntil };
  }

  async #of(key: string, signer: ExternalSigner): Promise<ExternalSignerState> {
    const { generation } = signer.metadata;
    const known = this.#held.get(key);
    if (known?.generation === generation && known !== undefined) return known;
    await this.#forget(key);
    const held: ExternalSignerState = {
      signerName: signer.spec.signerName,
      generation,
      backend: this.#init.openBackend(signer),
      gate: this.#gateOf(signer),
      fault: messages.NOT_CHECKED,
      failures: 0,
      denials: 0,
      deniedUntil: 0,
      flows: new BoundedMap(MAX_HELD_FLOWS),
      refused: new Set(),
      denied: new Set(),
    };
    const before = holdOf(signer, serverTime(this.#component));
    if (before !== undefined) {
      held.hold = before;
      held.fault = before.problem;
    }
    this.#held.set(key, held);
    return held;
  }

  #gateOf({ spec }: ExternalSigner): CallGate {
    const place = engineOf(spec.authority.vault);
    const known = this.#gates.get(place);
    if (known !== undefined) return known;
    const { clock, delay, random, metrics, queue } = this.#component;
    const gate = createCallGate({
      clock,
      delay,
      random,
      onPause: (_until, reason) => {
        metrics.of(EXTERNAL_SERIES).pauses.inc({ reason });
        for (const [key, held] of this.#held) if (held.gate === gate) queue.add(key);
      },
    });
    this.#gates.set(place, gate);
    return gate;
  }

  #announce({ spec: { signerName } }: ExternalSigner): void {
    for (const listener of this.#listeners) listener(signerName);
  }

  async #forget(key: string): Promise<void> {
    const held = this.#held.get(key);
    if (held === undefined) return;
    this.#held.delete(key);
    const isServed = this.#init.signers.get(key)?.spec.signerName === held.signerName;
    if (!isServed) this.#component.metrics.unserved(held.signerName);
    await held.backend.close();
  }

  /** Writes the status once, if it changed. */
  async #say(
    signer: KubeObject & { readonly status: ExternalSignerStatus },
    ready: Ready,
    hold?: Hold,
  ): Promise<undefined> {
    const component = this.#component;
    const { signers } = this.#init;
    const name = signers.get(keyOf(signer.metadata))?.spec.signerName;
    if (name !== undefined) {
      const value = ready.status === 'True' ? 1 : 0;
      component.metrics.of(EXTERNAL_SERIES).ready.set({ signer: name }, value);
    }
    const next = withStatus(signer, ready, hold, serverTime(component));
    if (JSON.stringify(next.status) === JSON.stringify(signer.status)) return undefined;
    const path = EXTERNAL_SIGNERS.object(signer.metadata, 'status');
    const written = await writeSubresource(component.client, next, {
      path,
      body: withoutManagedFields(next),
    });
    signers.applyWrite(written);
    const before = findCondition(signer.status.conditions, 'Ready');
    component.log.info({ signer: signer.metadata.name, ...ready }, messages.READINESS_CHANGED);
    if (before?.reason === ready.reason) return undefined;
    const { apiVersion, kind, metadata } = signer;
    component.events.record({
      regarding: { apiVersion, kind, name: metadata.name, uid: metadata.uid },
      type: ready.status === 'True' ? 'Normal' : 'Warning',
      reason: ready.reason,
      action: 'Check',
      note: ready.message,
    });
    return undefined;
  }
}
