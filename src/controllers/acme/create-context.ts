// SPDX-License-Identifier: Apache-2.0
import {
  CHALLENGES,
  ORDERS,
  readChallengeObject,
  readOrder,
  type Challenge,
  type Order,
} from '../../api/acme/index.ts';
import { resource } from '../../kube/resource/resource.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { SelfCheck } from '../../acme-solving/self-check.ts';
import type { AcmeContext } from './context.ts';
import { watchAcmeSigners } from '../../runtime/signers/acme-signers.ts';
import { createSessions } from './signers/sessions.ts';
import { createAcmeCache } from './store/cache.ts';
import { countStates } from './store/counts.ts';
import { createLeadership, type Leadership } from './store/leadership.ts';
import type { Term } from './store/term.ts';

/** What happens when this process begins or ceases to lead. */
export interface TermListener {
  readonly begin: (term: Term) => void;
  readonly end: () => void;
}

/** The context with what runs it. */
export interface RunningContext extends AcmeContext {
  readonly leadership: Leadership;
  /** Sets the one listener. */
  readonly onTerm: (listener: TermListener) => void;
}

/** Caches, sessions and terms, before any loop uses them. */
export function createContext(component: Component, checkChallenge: SelfCheck): RunningContext {
  const signers = watchAcmeSigners(component);
  const orders = createAcmeCache<Order>({
    ...{ component, resource: resource(ORDERS), read: readOrder },
    textOf: ({ spec }) => spec.requestRef.uid,
  });
  const challenges = createAcmeCache<Challenge>({
    ...{ component, resource: resource(CHALLENGES), read: readChallengeObject },
    textOf: ({ spec }) => spec.orderRef.uid,
  });
  const { metrics } = component;
  countStates(
    orders,
    ({ status }) => status.state ?? 'new',
    (state, count) => {
      metrics.acmeOrders(state, count);
    },
  );
  countStates(challenges, stateOfChallenge, (state, count) => {
    metrics.acmeChallenges(state, count);
  });
  let listener: TermListener | undefined;
  const leadership = createLeadership({
    component,
    isListed: () => signers.settled && orders.synced && challenges.synced,
    onBegin: (term) => listener?.begin(term),
    onEnd: () => listener?.end(),
  });
  return {
    ...{ component, signers, sessions: createSessions(), orders, challenges, checkChallenge },
    ...{ term: leadership.term, leadership },
    onTerm: (given) => {
      listener = given;
    },
  };
}

function stateOfChallenge({ status: { state, processing } }: Challenge): string {
  return processing === true || state !== undefined ? (state ?? 'pending') : 'queued';
}
