// SPDX-License-Identifier: Apache-2.0
import { isFinalChallenge } from '#acme/orders/status.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import { byAge, keyOf } from '#api/object/object.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import type { AcmeContext } from '../context.ts';
import { keyOfRef } from '#component/signers/acme-signers.ts';
import type { Term } from '../store/leader-state.ts';
import { runObjectLoop, withOwnQueue } from '../store/object-loop.ts';
import { driveChallenge } from './challenge-work.ts';
import { ChallengeSlots } from './slots.ts';

/** One worker for each default slot: each may wait for a slow server. */
const CHALLENGE_WORKERS = 60;

/** Key in the queue that no object has: a turn may be over. */
const TURNS = ' turns';

/**
 * Reports whether a Challenge had a slot. What a solver presented stays until the solver reports
 * its removal.
 */
function isHolding({ status: { processing, solver } }: Challenge): boolean {
  return processing === true || solver?.presented === true;
}

/** Drives every Challenge to its end, as many at once as there are slots. */
export class ChallengeLoop {
  readonly #context: AcmeContext;
  readonly #component: Component;
  #slots: ChallengeSlots | undefined;

  constructor(context: AcmeContext) {
    const { component, challenges, sessions, signers } = context;
    this.#context = context;
    this.#component = withOwnQueue(component, 'challenges');
    const { queue } = this.#component;
    challenges.onEvent((key, now, before) => {
      if (now === undefined && before !== undefined) this.#forget(before);
      else queue.add(key);
    });
    sessions.onChange((signerKey) => {
      this.wake(signerKey);
    });
    signers.onChange((_names, keys) => {
      for (const key of keys) {
        this.#limit(key);
        this.wake(key);
      }
    });
  }

  /**
   * Called when this process starts to lead. Challenges with a slot keep it. The others are queued,
   * oldest first.
   */
  readonly begin = (term: Term): void => {
    const { challenges, signers } = this.#context;
    const { queue } = this.#component;
    const component = this.#component;
    const slots = new ChallengeSlots({
      term,
      wake: queue.add,
      now: () => serverTime(component),
      callAt: (at) => {
        queue.addAt(TURNS, requeueAt(component, at).requeueAt);
      },
    });
    const isLive = ({ metadata, status }: Challenge): boolean =>
      metadata.deletionTimestamp === undefined && !isFinalChallenge(status.state);
    const all = challenges.list().toSorted(byAge);
    for (const each of all) if (isLive(each) && isHolding(each)) slots.adopt(each);
    this.#slots = slots;
    for (const each of signers.all()) this.#limit(keyOf(each.metadata));
    for (const each of all) queue.add(keyOf(each.metadata));
  };

  /** Queues the Challenges of a signer that became ready or changed. */
  readonly wake = (signerKey: string): void => {
    for (const { metadata, spec } of this.#context.challenges.list())
      if (keyOfRef(spec.signerRef, metadata.namespace ?? '') === signerKey)
        this.#component.queue.add(keyOf(metadata));
  };

  readonly run = (signal: AbortSignal): Promise<void> => {
    const handle = (key: string): Promise<ReconcileResult> => this.#reconcile(key);
    return runObjectLoop(
      this.#component,
      { noun: 'Challenge', workers: CHALLENGE_WORKERS, handle },
      signal,
    );
  };

  async #reconcile(key: string): Promise<ReconcileResult> {
    const term = this.#context.term();
    if (term !== undefined && key === TURNS) this.#slots?.give();
    const challenge = this.#context.challenges.get(key);
    if (term === undefined || this.#slots === undefined || challenge === undefined)
      return undefined;
    return driveChallenge(this.#context, term, this.#slots, challenge);
  }

  #limit(signerKey: string): void {
    const signer = this.#context.signers.get(signerKey);
    this.#slots?.limit(signerKey, signer?.spec.acme.maxConcurrent);
  }

  #forget({ metadata }: Challenge): void {
    this.#context.term()?.challenges.delete(metadata.uid);
    this.#slots?.free(metadata.uid);
  }
}
