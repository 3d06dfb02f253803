// SPDX-License-Identifier: Apache-2.0
import type { Schedulable } from '../../../acme-orders/scheduler.ts';
import type { Challenge } from '../../../api/acme/index.ts';
import { keyOf } from '../../../api/object/object.ts';
import { keyOfRef } from '../../../runtime/signers/acme-signers.ts';
import type { Term } from '../store/term.ts';

/** A Challenge as the scheduler sees it. */
function schedulableOf({ metadata, spec }: Challenge): Schedulable {
  return {
    id: metadata.uid,
    order: spec.orderRef.uid,
    signer: keyOfRef(spec.signerRef, metadata.namespace ?? ''),
    name: spec.dnsName,
    type: spec.type,
    createdAt: Date.parse(metadata.creationTimestamp),
  };
}

/** Gives the slots of a term: which Challenges run. */
export class ChallengeSlots {
  readonly #term: Term;
  readonly #wake: (key: string) => void;
  /** Key by uid, of Challenges that wait. */
  readonly #waiting = new Map<string, string>();

  constructor(term: Term, wake: (key: string) => void) {
    this.#term = term;
    this.#wake = wake;
  }

  has(uid: string): boolean {
    return this.#term.slots.has(uid);
  }

  /** One that had a slot before this term keeps it. */
  adopt(challenge: Challenge): void {
    this.#term.scheduler.adopt(schedulableOf(challenge));
    this.#term.slots.add(challenge.metadata.uid);
  }

  /** @returns whether it may run now; else it is woken when it may */
  ask(challenge: Challenge): boolean {
    const { uid } = challenge.metadata;
    if (this.has(uid)) return true;
    this.#waiting.set(uid, keyOf(challenge.metadata));
    this.#term.scheduler.add(schedulableOf(challenge));
    this.give();
    return this.has(uid);
  }

  /** It ended or is deleted: its slot is free at once. */
  free(uid: string): void {
    this.#waiting.delete(uid);
    this.#term.slots.delete(uid);
    this.#term.scheduler.remove(uid);
    this.give();
  }

  /** How many slots a signer may have. */
  limit(signerKey: string, slots: number): void {
    this.#term.scheduler.limit(signerKey, slots);
    this.give();
  }

  /** Gives every slot that is free. */
  give(): void {
    const { scheduler, slots } = this.#term;
    for (let next = scheduler.next(); next.length > 0; next = scheduler.next()) {
      for (const { id } of next) {
        slots.add(id);
        const key = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (key !== undefined) this.#wake(key);
      }
    }
  }
}
