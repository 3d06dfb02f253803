// SPDX-License-Identifier: Apache-2.0
import type { Http01Grant } from '../solving/http/grants.ts';
import type { SolverGrant } from '../solving/http/grants.ts';
import { sweepRoutes } from '../solving/http/sweep.ts';
import { keyOf } from '#api/object/object.ts';
import { messageOf } from '#base/errors.ts';
import { runLoop } from '#kube/workqueue/run-loop.ts';
import type { Component, Controller } from '#component/contract.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { reportRetry } from '#requests/loop/error-outcome.ts';
import { createSolverLookup, type SolverSurroundings } from './lookup.ts';
import { permissions } from './permissions.ts';
import { watchSolverObjects, type SolverWatches } from './watched.ts';
import { SolverWork } from './work.ts';
import * as messages from './messages.ts';

export interface AcmeSolverInit {
  readonly component: Component;
  readonly surroundings: SolverSurroundings;
  readonly http01Grants: readonly Http01Grant[];
  readonly solverGrants: readonly SolverGrant[];
  /** Namespace of the credentials of AcmeClusterSigners. */
  readonly clusterCredentials: string;
  /** Namespace of routes and of `acme-responder`'s Service. */
  readonly ownNamespace: string;
}

/** Workers mostly wait for DNS servers and the API server. */
const SOLVER_WORKERS = 16;

/** Interval of the search for routes without a Challenge. */
const ROUTE_SWEEP_MS = 10 * 60_000;
/** The lists are complete within seconds. */
const UNSETTLED_MS = 5_000;

/** Presents Challenges, and removes what it presented. */
export function createAcmeSolver(init: AcmeSolverInit): Controller {
  const { component, ownNamespace } = init;
  const watched = watchSolverObjects(
    component,
    (key) => {
      component.queue.add(key);
    },
    (key) => {
      work.hasten(key);
      component.queue.add(key);
    },
  );
  const work = new SolverWork(component, watched, createSolverLookup({ ...init, watched }));
  component.shard.onChange(() => {
    for (const { metadata } of watched.challenges.list()) {
      component.queue.add(keyOf(metadata));
    }
  });
  return {
    permissions: () => permissions(namesOf([], component), ownNamespace),
    notReady: () =>
      watched.settled() && watched.failures().length === 0
        ? []
        : [messages.unlisted(watched.failures()[0])],
    run: async (signal) => {
      const watching = Promise.all([watched.run(signal), sweeping(init, watched, signal)]);
      await runLoop(
        {
          ...component,
          workers: SOLVER_WORKERS,
          handle: (key) => work.reconcile(key, signal),
          onError: (key, error) => {
            const [namespace = '', name = ''] = key.split('/');
            const named = { kind: 'Challenge', namespace, name };
            reportRetry(component, error, { noun: 'Challenge', named, regarding: undefined });
          },
        },
        signal,
      );
      await watching;
    },
  };
}

async function sweeping(
  { component, ownNamespace }: AcmeSolverInit,
  { settled, challenges }: SolverWatches,
  signal: AbortSignal,
): Promise<void> {
  const { client, shard, log, delay } = component;
  while (!signal.aborted) {
    const isDue = settled() && shard.owns('');
    if (isDue) {
      const known = new Set(challenges.list().map(({ metadata }) => metadata.uid));
      await sweepRoutes(client, ownNamespace, (uid) => known.has(uid)).then(
        (routes) => {
          if (routes.length > 0) log.info({ routes }, messages.ROUTES_REMOVED);
        },
        (error: unknown) => {
          log.warn({ error: messageOf(error) }, messages.ROUTES_UNKNOWN);
        },
      );
    }
    await delay(isDue ? ROUTE_SWEEP_MS : UNSETTLED_MS, signal).catch(() => undefined);
  }
}
