// SPDX-License-Identifier: Apache-2.0
import type { RestartState } from './restart-state.ts';
import { CERTIFICATES, formatRecord } from './record.ts';
import type { RestartVerdict } from './verdict.ts';
import * as messages from './messages.ts';

/** Limit of restarts for the same certificates. Each causes two rollouts. */
const MAX_RESTARTS = 3;

interface Try {
  /** The record that was written. */
  readonly record: string;
  readonly tries: number;
  /** True if another writer removed an earlier record until the limit. */
  readonly isContested: boolean;
}

/**
 * Tracks restarts whose annotation another writer removed. The removal rolls the workload back to
 * the earlier template, whose pods stay. Without a limit, each restart would cause the next.
 */
export class RevertedRestarts {
  /** UID → the last restart. */
  readonly #last = new Map<string, Try>();

  /** Records that a restart has begun. */
  begun({ workload, record }: RestartState): void {
    const { uid } = workload.metadata;
    const text = formatRecord(record);
    const last = this.#last.get(uid);
    const isSame = last?.record === text;
    const tries = (isSame ? last.tries : 0) + 1;
    const isContested = last !== undefined && (last.isContested || last.tries >= MAX_RESTARTS);
    this.#last.set(uid, { record: text, tries, isContested });
  }

  /**
   * Returns the verdict on a workload that is not restarted again, or undefined. Once the
   * limit was reached, each new certificate gets one restart.
   */
  verdictOn({ workload, record }: RestartState): RestartVerdict | undefined {
    const last = this.#last.get(workload.metadata.uid);
    if (last === undefined || last.record !== formatRecord(record)) return undefined;
    if (last.tries < (last.isContested ? 1 : MAX_RESTARTS)) return undefined;
    const writer = workload.templateWriter;
    return { kind: 'reverted', message: messages.reverted(CERTIFICATES, last.tries, writer) };
  }

  /** Forgets deleted workloads. */
  forget(there: ReadonlySet<string>): void {
    for (const uid of this.#last.keys()) if (!there.has(uid)) this.#last.delete(uid);
  }
}
