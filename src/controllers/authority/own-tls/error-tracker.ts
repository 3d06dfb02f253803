// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { regarding } from '../apply/events.ts';

/** What keeps our own ports from their certificates, in words. */
export interface ErrorTracker {
  /** Told once: a line and an Event when it is news. Undefined: all is well again. */
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
