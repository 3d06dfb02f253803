// SPDX-License-Identifier: Apache-2.0
import type { Component } from '../../../runtime/component/component.ts';
import { serverTime } from '../../../runtime/component/server-time.ts';
import { createWakeup } from '../../../kube/wait/wakeup.ts';
import { beginTerm, type Term } from './term.ts';

/** The terms of this process as the leader of its replicas. */
export interface Leadership {
  /** Undefined while another process leads, or not everything is listed. */
  readonly term: () => Term | undefined;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface LeadershipInit {
  readonly component: Component;
  /** Whether all caches are complete: what a term begins with is read from them. */
  readonly isListed: () => boolean;
  readonly onBegin: (term: Term) => void;
  readonly onEnd: () => void;
}

/** How often it is looked whether the caches are complete. */
const LISTED_LOOK_MS = 100;

/** Begins a term when this process leads and knows all objects; ends it with the lease. */
export function createLeadership(init: LeadershipInit): Leadership {
  const { component, isListed, onBegin, onEnd } = init;
  const wakeup = createWakeup(component.delay);
  let term: Term | undefined;
  const leads = (): boolean => component.shard.owns('');

  function look(): void {
    if (leads() && term === undefined && isListed()) {
      term = beginTerm(serverTime(component));
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
