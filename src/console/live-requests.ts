// SPDX-License-Identifier: Apache-2.0
import { CERTIFICATE_REQUEST_RESOURCE } from '#api/request/certificate-request.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import type { Log } from '#base/ports.ts';
import { certificatesResourceIfServed } from '#component/certificates-resources.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { createReflector, type Reflector, type WatchMetrics } from '#kube/watch/reflector.ts';
import { isCertManagerServed } from '#operations/cert-manager-served.ts';
import {
  keptRequest,
  requestRow,
  type KeptRequest,
  type RowKind,
  type RequestRow,
} from './pages/requests.ts';
import type { ConsoleInit } from './readings.ts';

/** A change of one request. */
export interface RequestChange {
  /** The row, or undefined if it is gone. */
  readonly now: RequestRow | undefined;
  readonly before: RequestRow | undefined;
}

/** All requests that the person may list, kept up to date by one watch for each kind. */
export interface LiveRequests {
  /** Resolves once each kind was listed, or cannot be, and after five seconds in any case. */
  readonly ready: () => Promise<void>;
  readonly rows: () => readonly RequestRow[];
  /** Returns the reasons for which a kind is not shown, or not up to date. */
  readonly failures: () => readonly string[];
  /** Calls `onChange` for each change until `signal` is aborted. */
  readonly subscribe: (onChange: (change: RequestChange) => void, signal: AbortSignal) => void;
}

/**
 * Kinds of requests, each with the search for the version that the API server serves.
 *
 * The search returns undefined if the API server does not serve the kind.
 */
const KINDS: readonly {
  readonly kind: RowKind;
  readonly search: (client: Client) => Promise<Resource | undefined>;
}[] = [
  { kind: 'csr', search: () => Promise.resolve(resource(CSR_RESOURCE)) },
  {
    kind: 'pcr',
    search: (client) => certificatesResourceIfServed(client, 'podcertificaterequests'),
  },
  {
    kind: 'certificaterequest',
    search: async (client) =>
      (await isCertManagerServed(client)) ? CERTIFICATE_REQUESTS : undefined,
  },
];

const READY_WITHIN_MS = 5_000;
const READY_EVERY_MS = 25;

const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** The page shows the failure of a watch itself. */
const NO_LOG: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const NO_METRICS: WatchMetrics = {
  watchRestart: () => undefined,
  watchEvent: () => undefined,
  watchStopped: () => undefined,
};

interface RequestWatch {
  readonly kind: RowKind;
  readonly plural: string;
  readonly reflector: Reflector<KeptRequest>;
}

/**
 * Creates the watches of requests. They begin with the first page that needs them.
 *
 * @param signal - ends them
 */
export function createLiveRequests(
  init: Pick<ConsoleInit, 'client' | 'clock' | 'monotonic' | 'delay' | 'random'>,
  signal: AbortSignal,
): LiveRequests {
  const listeners = new Set<(change: RequestChange) => void>();
  let watched: readonly RequestWatch[] = [];
  let undiscovered: readonly string[] = [];
  let discovery: Promise<void> | undefined;

  function watch(kind: RowKind, of: Resource): RequestWatch {
    const rowOf = (request: KeptRequest | undefined): RequestRow | undefined =>
      request && requestRow(kind, request);
    const reflector = createReflector<KeptRequest>({
      client: init.client,
      path: of.collection(),
      transform: keptRequest,
      onEvent: (_key, now, before) => {
        for (const notify of listeners) notify({ now: rowOf(now), before: rowOf(before) });
      },
      clock: init.clock,
      delay: init.delay,
      random: init.random,
      log: NO_LOG,
      metrics: NO_METRICS,
    });
    return { kind, plural: of.plural, reflector };
  }

  /** Starts the watches of the kinds that have none. */
  async function discover(): Promise<void> {
    const refusals: string[] = [];
    const unwatched = KINDS.filter(({ kind }) => watched.every((each) => each.kind !== kind));
    const found = await Promise.all(
      unwatched.map(async ({ kind, search }) => {
        const of = await search(init.client).catch((error: unknown) => {
          if (!(error instanceof KubeError) || error.status !== 403) throw error;
          refusals.push(error.message);
        });
        return of === undefined ? [] : [watch(kind, of)];
      }),
    );
    const started = found.flat();
    for (const { reflector } of started) void reflector.run(signal);
    watched = [...watched, ...started];
    undiscovered = refusals;
  }

  const isSettled = ({ reflector }: RequestWatch): boolean =>
    reflector.synced || reflector.failure !== undefined;

  return {
    ready: async () => {
      const until = init.monotonic() + READY_WITHIN_MS;
      // Again with each page: an administrator may grant the permission or install cert-manager.
      discovery ??= discover().finally(() => {
        discovery = undefined;
      });
      await discovery;
      while (!watched.every(isSettled) && init.monotonic() < until) {
        await init.delay(READY_EVERY_MS, signal);
      }
    },
    rows: () =>
      watched.flatMap(({ kind, reflector }) =>
        reflector.list().map((request) => requestRow(kind, request)),
      ),
    failures: () => [
      ...undiscovered,
      ...watched.flatMap(({ plural, reflector }) => {
        if (reflector.failure !== undefined) return [`${plural}: ${reflector.failure}`];
        return reflector.synced ? [] : [`${plural}: the first list is not complete yet`];
      }),
    ],
    subscribe: (onChange, until) => {
      listeners.add(onChange);
      until.addEventListener('abort', () => listeners.delete(onChange), { once: true });
    },
  };
}
