// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { regarding } from '../apply/events.ts';

/** Why our own ports have no certificates, as text. */
export interface ErrorTracker {
  /**
   * Reports a problem once: a log line and an Event if it is new. Undefined: there is no problem any more.
   */
  note(signer: ClusterSigner, key: string, why: string | undefined): void;
  readonly list: () => readonly string[];
  clear(): void;
}

export function createErrorTracker(component: Pick<Component, 'log' | 'events'>): ErrorTracker {
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
      const details = {
        type: 'Warning',
        reason: 'ServingCertificateWaits',
        action: 'Issue',
      } as const;
      component.events.record({ regarding: regarding(signer), ...details, note: why });
    },
    list: () => [...troubles.values()],
    clear: () => {
      troubles.clear();
    },
  };
}
