// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Component } from '#component/contract.ts';
import { regarding } from './events.ts';

/** Reasons why objects are not written, by key. */
export interface ErrorTracker {
  /** Reports a new problem by a log line and an Event. Undefined clears the problem. */
  note(signer: ClusterSigner, key: string, why: string | undefined): void;
  readonly list: () => readonly string[];
  clear(): void;
  /** Drops the problems of all other keys. */
  retain(keys: ReadonlySet<string>): void;
}

/** @param event - reason and action of the Events that report a problem */
export function createErrorTracker(
  component: Pick<Component, 'log' | 'events'>,
  event: { readonly reason: string; readonly action: string },
): ErrorTracker {
  const troubles = new Map<string, string>();
  return {
    note: (signer, key, why) => {
      if (troubles.get(key) === why) return;
      if (why === undefined) {
        troubles.delete(key);
        return;
      }
      troubles.set(key, why);
      component.log.warn({ signer: signer.spec.signerName }, why);
      const details = { regarding: regarding(signer), type: 'Warning' as const };
      component.events.record({ ...details, ...event, note: why });
    },
    list: () => [...troubles.values()],
    clear: () => {
      troubles.clear();
    },
    retain: (keys) => {
      for (const key of troubles.keys()) if (!keys.has(key)) troubles.delete(key);
    },
  };
}
