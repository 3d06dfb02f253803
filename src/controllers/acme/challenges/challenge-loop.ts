// SPDX-License-Identifier: Apache-2.0
import { isFinalChallenge } from '../../../acme-orders/record.ts';
import type { Challenge } from '../../../api/acme/index.ts';
import { byAge, keyOf } from '../../../api/object/object.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import type { Component } from '../../../runtime/component/component.ts';
import type { AcmeContext } from '../context.ts';
import { keyOfRef } from '../../../runtime/signers/acme-signers.ts';
import type { Term } from '../store/term.ts';
import { runObjectLoop, withOwnQueue } from '../store/object-loop.ts';
import { ChallengeWork } from './challenge-work.ts';
import { ChallengeSlots } from './slots.ts';

/** As many as have a slot: each may wait for a slow server. */
const CHALLENGE_WORKERS = 60;

/** Brings every Challenge to its end, as many at once as there are slots. */
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

  /** This process leads from now on: Challenges that have slots keep them, and the others are looked at, oldest first. */
  readonly begin = (term: Term): void => {
    const { challenges, signers } = this.#context;
    const { queue } = this.#component;
    const slots = new ChallengeSlots(term, queue.add);
    const isLive = ({ metadata, status }: Challenge): boolean =>
      metadata.deletionTimestamp === undefined && !isFinalChallenge(status.state);
    const all = challenges.list().toSorted(byAge);
    for (const each of all) if (isLive(each) && each.status.processing === true) slots.adopt(each);
    this.#slots = slots;
    for (const each of signers.all()) this.#limit(keyOf(each.metadata));
    for (const each of all) queue.add(keyOf(each.metadata));
  };

  /** A signer can be called again, or has other solvers. */
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
    const challenge = this.#context.challenges.get(key);
    if (term === undefined || this.#slots === undefined || challenge === undefined)
      return undefined;
    return new ChallengeWork(this.#context, term, this.#slots, challenge).run();
  }

  #limit(signerKey: string): void {
    const signer = this.#context.signers.get(signerKey);
    if (signer !== undefined) this.#slots?.limit(signerKey, signer.spec.acme.maxConcurrent);
  }

  #forget({ metadata }: Challenge): void {
    this.#context.term()?.challenges.delete(metadata.uid);
    this.#slots?.free(metadata.uid);
  }
}
