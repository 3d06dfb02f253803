// SPDX-License-Identifier: Apache-2.0
/**
 * Decides whether this replica appends and signs, and with which key, and publishes its
 * checkpoints.
 */
import { messageOf, SignerError } from '#base/errors.ts';
import { backoffDelay } from '#kube/wait/backoff.ts';
import type { SignedHead } from '../index.ts';
import {
  compareWithPublished,
  publishCheckpoints,
  signCheckpoints,
  type CheckpointsInit,
  type PublishedCheckpoints,
} from './checkpoints.ts';
import { loadLogKey, type LogKey } from './log-key.ts';
import * as messages from './messages.ts';

/** Dependencies of writing. */
export interface WriterStateInit extends CheckpointsInit {
  /** Whether several replicas share the records. Then each appends, and the leader signs. */
  readonly shared: boolean;
  /** Prefix of the logs' origins. */
  readonly prefix: string;
}

/** The only key of the shard: the leader alone appends and signs. */
const WHOLE = 'ledger';
/** Tolerated difference between clocks of replicas (`component-clocks` of `countersign check`). */
const AHEAD_MILLISECONDS = 60_000;
/**
 * Backoff for the ConfigMap. Checkpoints signed meanwhile are published with the next successful
 * write.
 */
const RETRY = { firstMs: 5_000, maxMs: 60_000 };

/** The writing state of this replica. */
export class WriterState {
  readonly #init: WriterStateInit;
  readonly #onPublished: () => void;
  #key: LogKey | undefined;
  #published: PublishedCheckpoints = new Map();
  /** Whether this replica led when it read the key. */
  #led = false;
  /** Why this replica does not append or signs no checkpoint. */
  fault: string | undefined = messages.NOT_LEADING;
  /** Why the ConfigMap lacks a signed checkpoint. */
  #unpublished: string | undefined;
  /** Time of the newest record, if it is ahead of this clock. */
  #ahead: number | undefined;
  #failures = 0;
  #publishAt = -Infinity;

  /** @param onPublished - called after an attempt to write the ConfigMap */
  constructor(init: WriterStateInit, onPublished: () => void) {
    this.#init = init;
    this.#onPublished = onPublished;
  }

  /** The signing keys. Undefined while another replica leads, unless the records are shared. */
  get key(): LogKey | undefined {
    return this.leads || this.#init.shared ? this.#key : undefined;
  }

  get leads(): boolean {
    return this.#init.component.shard.owns(WHOLE);
  }

  warnings(): readonly string[] {
    return [
      ...(this.fault === undefined ? [] : [messages.notSigned(this.fault)]),
      ...(this.#unpublished === undefined
        ? []
        : [messages.checkpointNotInCluster(this.#unpublished)]),
      ...(this.#ahead === undefined ? [] : [aheadText(this.#ahead)]),
    ];
  }

  /**
   * Signs the heads of logs that have grown, and publishes them. The next pass retries a failure.
   */
  async pass(): Promise<void> {
    const { leads } = this;
    // Another replica may have appended meanwhile, so the published checkpoints are compared again.
    if (leads !== this.#led) this.#key = undefined;
    this.#led = leads;
    if (!leads) this.#unpublished = undefined;
    if (!leads && !this.#init.shared) {
      this.fault = messages.NOT_LEADING;
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
        this.#init.component.log.error({ error: fault }, messages.NO_CHECKPOINT_SIGNED);
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
      // The leader has signed these records. A follower checks that they match the signatures.
    } else if (!isNew) await compareWithPublished(this.#init);
    await this.#compareClocks();
  }

  /**
   * Warns if the newest record is ahead of the clock. The ledger's time never decreases, so an
   * append by a fast clock dates all later records until the clock catches up.
   */
  async #compareClocks(): Promise<void> {
    const { component, store } = this.#init;
    const { latest = 0 } = (await store.logs()).at(-1) ?? {};
    const isAhead = latest > component.clock() + AHEAD_MILLISECONDS;
    if (isAhead && this.#ahead === undefined)
      component.log.warn({ error: aheadText(latest) }, messages.AHEAD_OF_CLOCK);
    this.#ahead = isAhead ? latest : undefined;
  }

  /**
   * Publishes checkpoints. If the ConfigMap cannot be written, signing continues and external
   * destinations still get the checkpoints.
   */
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
        component.log.warn({ error: fault }, messages.CHECKPOINT_NOT_IN_CLUSTER);
      this.#unpublished = fault;
      const pause = backoffDelay(this.#failures, { ...RETRY, random: component.random });
      this.#publishAt = component.monotonic() + pause;
      this.#failures += 1;
    }
    this.#onPublished();
  }
}

function aheadText(latest: number): string {
  return messages.aheadUntil(new Date(latest).toISOString());
}

/** Loads the key, after the store was found to continue the published checkpoints. */
async function begun(
  init: WriterStateInit,
): Promise<{ readonly key: LogKey; readonly published: PublishedCheckpoints }> {
  const { component, namespace, prefix } = init;
  const key = await loadLogKey(component, namespace);
  const published = await compareWithPublished(init);
  component.log.info({ prefix }, messages.APPENDS);
  return { key, published };
}
