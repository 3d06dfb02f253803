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
  readonly plural: string;
  readonly search: (client: Client) => Promise<Resource | undefined>;
}[] = [
  {
    kind: 'csr',
    plural: CSR_RESOURCE.plural,
    search: () => Promise.resolve(resource(CSR_RESOURCE)),
  },
  {
    kind: 'pcr',
    plural: 'podcertificaterequests',
    search: (client) => certificatesResourceIfServed(client, 'podcertificaterequests'),
  },
  {
    kind: 'certificaterequest',
    plural: CERTIFICATE_REQUEST_RESOURCE.plural,
    search: async (client) =>
      (await isCertManagerServed(client)) ? CERTIFICATE_REQUESTS : undefined,
  },
];

const READY_WITHIN_MS = 5_000;
const READY_EVERY_MS = 25;
/** The interval between searches for a kind whose search failed. */
const SEARCH_AGAIN_MS = 10_000;

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

/** The search for the kinds of requests that the API server serves. */
interface KindSearch {
  /** Searches for the kinds that were not found yet. */
  readonly search: () => Promise<void>;
  /** Repeats a search that failed for as long as a page is open. */
  readonly repeat: () => Promise<void>;
  /** Returns why it is not known whether a kind is served. */
  readonly failures: () => readonly string[];
}

/**
 * Creates the search. Before the first answer an error other than 403 ends the page. Later errors
 * are `failures`, and the search is repeated, since an open page does not load again by itself.
 *
 * @param onFound - called once for each kind
 * @param isOpen - reports whether a page is open
 * @param signal - ends the repetition
 */
function createKindSearch(
  { client, delay }: Pick<ConsoleInit, 'client' | 'delay'>,
  onFound: (kind: RowKind, of: Resource) => void,
  isOpen: () => boolean,
  signal: AbortSignal,
): KindSearch {
  const found = new Set<RowKind>();
  let failed: readonly string[] = [];
  let running: Promise<void> | undefined;
  let [wasAnswered, isRepeating] = [false, false];

  async function searchMissing(): Promise<void> {
    const failures: string[] = [];
    const missing = KINDS.filter(({ kind }) => !found.has(kind));
    await Promise.all(
      missing.map(async ({ kind, plural, search }) => {
        const of = await search(client).catch((error: unknown) => {
          if (!(error instanceof KubeError)) throw error;
          if (!wasAnswered && error.status !== 403) throw error;
          failures.push(`${plural}: ${error.message}`);
        });
        // The search before this one may have failed while this kind was on its way.
        if (of === undefined || found.has(kind)) return;
        found.add(kind);
        onFound(kind, of);
      }),
    );
    [failed, wasAnswered] = [failures, true];
    void repeat();
  }

  function search(): Promise<void> {
    running ??= searchMissing().finally(() => {
      running = undefined;
    });
    return running;
  }

  async function repeat(): Promise<void> {
    if (isRepeating) return;
    isRepeating = true;
    while (failed.length > 0 && isOpen()) {
      await delay(SEARCH_AGAIN_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      // The next page shows an error that is not the API server's.
      await search().catch(() => undefined);
    }
    isRepeating = false;
  }

  return { search, repeat, failures: () => failed };
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
  const watched: RequestWatch[] = [];

  const kinds = createKindSearch(init, watch, () => listeners.size > 0, signal);

  function watch(kind: RowKind, of: Resource): void {
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
    void reflector.run(signal);
    watched.push({ kind, plural: of.plural, reflector });
  }

  const isSettled = ({ reflector }: RequestWatch): boolean =>
    reflector.synced || reflector.failure !== undefined;

  return {
    ready: async () => {
      const until = init.monotonic() + READY_WITHIN_MS;
      // Search again with each page: an administrator may have installed cert-manager.
      await kinds.search();
      while (!watched.every(isSettled) && init.monotonic() < until) {
        await init.delay(READY_EVERY_MS, signal);
      }
    },
    rows: () =>
      watched.flatMap(({ kind, reflector }) =>
        reflector.list().map((request) => requestRow(kind, request)),
      ),
    failures: () => [
      ...kinds.failures(),
      ...watched.flatMap(({ plural, reflector }) => {
        if (reflector.failure !== undefined) return [`${plural}: ${reflector.failure}`];
        return reflector.synced ? [] : [`${plural}: the first list is not complete yet`];
      }),
    ],
    subscribe: (onChange, until) => {
      listeners.add(onChange);
      void kinds.repeat();
      until.addEventListener('abort', () => listeners.delete(onChange), { once: true });
    },
  };
}
