// SPDX-License-Identifier: Apache-2.0
/** Which of the replicas appends and signs, with which key, and what is published of it. */
import { messageOf, SignerError } from '../../errors.ts';
import { backoffDelay } from '../../kube/wait/backoff.ts';
import type { SignedHead } from '../../ledger/index.ts';
import {
  compareWithPublished,
  publishCheckpoints,
  signCheckpoints,
  type CheckpointsInit,
  type Published,
} from './checkpoints.ts';
import { loadLogKey, type LogKey } from './log-key.ts';

/** What writing needs. */
export interface WritingInit extends CheckpointsInit {
  /** Whether several replicas have the same records: then each appends, and who leads signs. */
  readonly shared: boolean;
  /** What the origins of logs begin with. */
  readonly prefix: string;
}

export const NOT_LEADING = 'this replica does not lead: it appends nothing';
/** One key: the leader alone appends and signs. */
const WHOLE = 'ledger';
/** Clocks of replicas may be apart by less (`component-clocks` of `countersign check`). */
const AHEAD_MILLISECONDS = 60_000;
/** Of a ConfigMap that cannot be written; what is signed meanwhile goes with the next one that can. */
const RETRY = { firstMs: 5_000, maxMs: 60_000 };

/** Whether this replica appends, and whether it signs. */
export class Writing {
  readonly #init: WritingInit;
  readonly #onPublished: () => void;
  #key: LogKey | undefined;
  #published: Published = new Map();
  /** Whether it led when the key was read. */
  #led = false;
  /** Why it does not append, or signs no checkpoint. */
  fault: string | undefined = NOT_LEADING;
  /** Why the ConfigMap lacks a checkpoint that was signed. */
  #unpublished: string | undefined;
  /** The time of the newest record, where it is ahead of this clock. */
  #ahead: number | undefined;
  #failures = 0;
  #publishAt = -Infinity;

  /** @param onPublished - called when checkpoints are in the ConfigMap */
  constructor(init: WritingInit, onPublished: () => void) {
    this.#init = init;
    this.#onPublished = onPublished;
  }

  /** Nothing while another replica leads, unless the records are shared. */
  get key(): LogKey | undefined {
    return this.leads || this.#init.shared ? this.#key : undefined;
  }

  get leads(): boolean {
    return this.#init.component.shard.owns(WHOLE);
  }

  warnings(): readonly string[] {
    return [
      ...(this.fault === undefined ? [] : [`no checkpoint is signed: ${this.fault}`]),
      ...(this.#unpublished === undefined
        ? []
        : [`the last checkpoint is not in the cluster: ${this.#unpublished}`]),
      ...(this.#ahead === undefined ? [] : [aheadText(this.#ahead)]),
    ];
  }

  /** Signs what has grown, and publishes what was signed; what fails is tried again by the next one. */
  async pass(): Promise<void> {
    const { leads } = this;
    // Another one may have appended meanwhile: what is published is compared again.
    if (leads !== this.#led) this.#key = undefined;
    this.#led = leads;
    if (!leads) this.#unpublished = undefined;
    if (!leads && !this.#init.shared) {
      this.fault = NOT_LEADING;
      return;
    }
    try {
      await this.#work(leads);
      this.fault = undefined;
    } catch (error) {
      const fault = messageOf(error);
      if (error instanceof SignerError && error.code === 'LEDGER_INCONSISTENT')
        this.#key = undefined;
      if (this.fault !== fault) {
        this.#init.component.log.error({ error: fault }, 'no checkpoint is signed');
      }
      this.fault = fault;
    }
  }

  async #work(leads: boolean): Promise<void> {
    const isNew = this.#key === undefined;
    if (this.#key === undefined) {
      const { key, published } = await begun(this.#init);
      [this.#key, this.#published] = [key, published];
    }
    if (leads) {
      const unpublished = await signCheckpoints(this.#init, this.#key, this.#published);
      await this.#publish(this.#key, unpublished);
      // Who leads has signed of these records: who follows looks whether they are what was signed.
    } else if (!isNew) await compareWithPublished(this.#init);
    await this.#compareClocks();
  }

  /** The ledger's time never falls: what was appended by a clock that was ahead dates all that comes until then. */
  async #compareClocks(): Promise<void> {
    const { component, store } = this.#init;
    const { latest = 0 } = (await store.logs()).at(-1) ?? {};
    const isAhead = latest > component.clock() + AHEAD_MILLISECONDS;
    if (isAhead && this.#ahead === undefined)
      component.log.warn({ error: aheadText(latest) }, 'the ledger is ahead of the clock');
    this.#ahead = isAhead ? latest : undefined;
  }

  /** While the ConfigMap cannot be written, the log is signed all the same, and other places take its checkpoints. */
  async #publish(key: LogKey, unpublished: readonly SignedHead[]): Promise<void> {
    const { component } = this.#init;
    if (component.monotonic() < this.#publishAt) return;
    try {
      const before = this.#published;
      this.#published = await publishCheckpoints(this.#init, key, unpublished, before);
      this.#unpublished = undefined;
      this.#failures = 0;
    } catch (error) {
      const fault = messageOf(error);
      if (this.#unpublished !== fault)
        component.log.warn({ error: fault }, 'a checkpoint is not in the cluster yet');
      this.#unpublished = fault;
      const pause = backoffDelay(this.#failures, { ...RETRY, random: component.random });
      this.#publishAt = component.monotonic() + pause;
      this.#failures += 1;
    }
    this.#onPublished();
  }
}

function aheadText(latest: number): string {
  return `records get the time ${new Date(latest).toISOString()} until then: one was appended by a clock that was so far ahead, and the time of the ledger never falls`;
}

/** The key, after the store was found to continue what was published. */
async function begun(
  init: WritingInit,
): Promise<{ readonly key: LogKey; readonly published: Published }> {
  const { component, namespace, prefix } = init;
  const key = await loadLogKey(component, namespace);
  const published = await compareWithPublished(init);
  component.log.info({ prefix }, 'appends to the ledger');
  return { key, published };
}
