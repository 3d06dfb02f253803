// SPDX-License-Identifier: Apache-2.0
import type { Schedulable } from '#acme/orders/turns/line-up.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import { keyOf } from '#api/object/object.ts';
import { keyOfRef } from '#component/signers/acme-signers.ts';
import type { Term } from '../store/leader-state.ts';

/** Returns the data of a Challenge that the scheduler needs. */
function schedulableOf({ metadata, spec }: Challenge): Schedulable {
  return {
    id: metadata.uid,
    order: spec.orderRef.uid,
    namespace: metadata.namespace ?? '',
    signer: keyOfRef(spec.signerRef, metadata.namespace ?? ''),
    name: spec.dnsName,
    type: spec.type,
    createdAt: Date.parse(metadata.creationTimestamp),
  };
}

/** Parts for the slots of a term. */
export interface SlotsInit {
  readonly term: Term;
  readonly now: () => number;
  /** Called for a Challenge that may run or must yield. */
  readonly wake: (key: string) => void;
  /** Called with the time for the next call of `give`. */
  readonly callAt: (at: number) => void;
}

/** Gives out the slots of a term: decides which Challenges run, and which must yield. */
export class ChallengeSlots {
  readonly #init: SlotsInit;
  /** Keys by uid. */
  readonly #keys = new Map<string, string>();
  /** Challenges whose turn is over. */
  readonly #yielding = new Set<string>();

  constructor(init: SlotsInit) {
    this.#init = init;
  }

  has(uid: string): boolean {
    return this.#init.term.slots.has(uid);
  }

  /** Reports whether its turn is over. It frees its slot after its clean-up. */
  mustYield(uid: string): boolean {
    return this.#yielding.has(uid);
  }

  /** Keeps the slot of a Challenge from an earlier term. */
  adopt(challenge: Challenge): void {
    const { term, now } = this.#init;
    this.#keys.set(challenge.metadata.uid, keyOf(challenge.metadata));
    term.scheduler.adopt(schedulableOf(challenge), now());
    term.slots.add(challenge.metadata.uid);
  }

  /** @returns whether it may run now. Otherwise `wake` is called later */
  ask(challenge: Challenge): boolean {
    const { uid } = challenge.metadata;
    if (this.has(uid)) return true;
    this.#keys.set(uid, keyOf(challenge.metadata));
    this.#init.term.scheduler.add(schedulableOf(challenge));
    this.give();
    return this.has(uid);
  }

  /** Starts a turn for the server's validation after the self-check passed. */
  gotOn(uid: string): void {
    const { term, now } = this.#init;
    term.scheduler.gotOn(uid, now());
  }

  /** Frees the slot of a Challenge that ended, was deleted, or yielded and cleaned up. */
  free(uid: string): void {
    this.#keys.delete(uid);
    this.#yielding.delete(uid);
    this.#init.term.slots.delete(uid);
    this.#init.term.scheduler.remove(uid);
    this.give();
  }

  /** Limits the slots of a signer. Undefined: the signer no longer exists. */
  limit(signerKey: string, slots: number | undefined): void {
    this.#init.term.scheduler.limit(signerKey, slots);
    this.give();
  }

  /** Gives out every free slot, and makes Challenges yield whose turn is over. */
  give(): void {
    const { term, now, wake, callAt } = this.#init;
    const { scheduler, slots } = term;
    const at = now();
    for (let next = scheduler.next(at); next.length > 0; next = scheduler.next(at)) {
      for (const { id } of next) {
        slots.add(id);
        wake(this.#keys.get(id) ?? '');
      }
    }
    for (const id of scheduler.yields(at)) {
      this.#yielding.add(id);
      wake(this.#keys.get(id) ?? '');
    }
    const again = scheduler.wakeAt(at);
    if (again !== undefined) callAt(again);
  }
}
