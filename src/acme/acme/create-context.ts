// SPDX-License-Identifier: Apache-2.0
import { readChallengeObject, type Challenge } from '#api/acme/challenge.ts';
import { CHALLENGES, ORDERS } from '#api/acme/names.ts';
import { readOrder, type Order } from '#api/acme/order.ts';
import { resource } from '#kube/resource/resource.ts';
import type { AcmeContext } from './context.ts';
import { watchAcmeSigners } from '#component/signers/acme-signers.ts';
import { createSessions } from './signers/sessions.ts';
import { createAcmeCache } from './store/cache.ts';
import { countStates } from './store/counts.ts';
import { createLeadership, type Leadership } from './store/leadership.ts';
import type { Term } from './store/leader-state.ts';
import { ACME_SERIES } from './metrics.ts';

/** Called when this process starts or stops leading. */
export interface TermListener {
  readonly begin: (term: Term) => void;
  readonly end: () => void;
}

/** The context and the means to run it. */
export interface RunningContext extends AcmeContext {
  readonly leadership: Leadership;
  /** Sets the one listener. */
  readonly onTerm: (listener: TermListener) => void;
}

/** Parts that the caller provides. */
export interface ContextInit extends Pick<AcmeContext, 'component' | 'checkChallenge'> {
  /** Number of Challenges that run at once. */
  readonly maxChallenges: number;
  readonly http01Grants: AcmeContext['http01Grants'];
}

/** Creates caches, sessions, and leadership before any loop uses them. */
export function createContext(init: ContextInit): RunningContext {
  const { component, checkChallenge, maxChallenges, http01Grants } = init;
  const signers = watchAcmeSigners(component);
  const orders = createAcmeCache<Order>({
    component,
    resource: resource(ORDERS),
    read: readOrder,
    textOf: ({ spec }) => spec.requestRef.uid,
  });
  const challenges = createAcmeCache<Challenge>({
    component,
    resource: resource(CHALLENGES),
    read: readChallengeObject,
    textOf: ({ spec }) => spec.orderRef.uid,
  });
  const series = component.metrics.of(ACME_SERIES);
  countStates(
    orders,
    ({ status }) => status.state ?? 'new',
    (state, count) => {
      series.orders.set({ state }, count);
    },
  );
  countStates(challenges, stateOfChallenge, (state, count) => {
    series.challenges.set({ state }, count);
  });
  let listener: TermListener | undefined;
  const leadership = createLeadership({
    component,
    maxChallenges,
    isListed: () => signers.settled && orders.synced && challenges.synced,
    onBegin: (term) => listener?.begin(term),
    onEnd: () => listener?.end(),
  });
  return {
    component,
    signers,
    sessions: createSessions(),
    orders,
    challenges,
    checkChallenge,
    http01Grants,
    term: leadership.term,
    leadership,
    onTerm: (given) => {
      listener = given;
    },
  };
}

function stateOfChallenge({ status: { state, processing } }: Challenge): string {
  return processing === true || state !== undefined ? (state ?? 'pending') : 'queued';
}
