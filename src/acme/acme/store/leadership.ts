// SPDX-License-Identifier: Apache-2.0
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { createWakeup } from '#kube/wait/wakeup.ts';
import { beginTerm, type Term } from './leader-state.ts';

/** Terms of this process as the leader of its replicas. */
export interface Leadership {
  /** Returns undefined while another process leads, or the lists are incomplete. */
  readonly term: () => Term | undefined;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface LeadershipInit {
  readonly component: Component;
  /** Number of Challenges that run at once. */
  readonly maxChallenges: number;
  /** Reports whether all caches are complete. A term starts from their contents. */
  readonly isListed: () => boolean;
  readonly onBegin: (term: Term) => void;
  readonly onEnd: () => void;
}

/** Interval between checks of the caches. */
const LISTED_LOOK_MS = 100;

/** Starts a term when this process leads and all caches are complete. Ends it with the Lease. */
export function createLeadership(init: LeadershipInit): Leadership {
  const { component, maxChallenges, isListed, onBegin, onEnd } = init;
  const wakeup = createWakeup(component.delay);
  let term: Term | undefined;
  const leads = (): boolean => component.shard.owns('');

  function look(): void {
    if (leads() && term === undefined && isListed()) {
      term = beginTerm(serverTime(component), maxChallenges);
      onBegin(term);
    } else if (!leads() && term !== undefined) {
      term = undefined;
      onEnd();
    }
  }

  component.shard.onChange(() => {
    look();
    wakeup.wake();
  });
  return {
    term: () => (leads() ? term : undefined),
    run: async (signal) => {
      while (!signal.aborted) {
        look();
        await wakeup.wait(isListed() ? 3_600_000 : LISTED_LOOK_MS, signal);
      }
    },
  };
}
