// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Clock, Delay, Monotonic, Random } from '#base/ports.ts';
import type { Place, SignerFacts } from '#diagnose/check/facts.ts';
import type { ReadResult } from '#diagnose/check/finding.ts';
import { readInstallation } from '#diagnose/check/reading/read-installation.ts';
import { readKubernetes } from '#diagnose/check/reading/read-kubernetes.ts';
import { readSigners } from '#diagnose/check/reading/read-signers.ts';
import type { Facts } from '#diagnose/check/run-checks.ts';
import type { Client } from '#kube/client/client.ts';
import { issuedRow, type IssuedCertificateRow } from '#operations/issued.ts';
import {
  holderOf,
  type FoundCertificate,
  type CertificateSearchResult,
} from '#operations/revoking/find-certificates.ts';
import { serverTime } from '#component/server-time.ts';
import { countItems } from './page-clients.ts';
import type { ReadCount } from './pages/overview-model.ts';
import type { RestartPlan } from './pages/restarts.ts';
import type { RulesEngine } from './rules-engine.ts';
import { faultText } from './views/fault.ts';

/** Part of a search that the ledger answers from an index. */
export interface IndexedQuery {
  readonly namespace?: string | undefined;
  readonly signer?: string | undefined;
  readonly serial?: string | undefined;
  readonly san?: string | undefined;
}

/** The dependencies of a console. */
export interface ConsoleInit extends Place {
  /** Sends requests as the person. */
  readonly client: Client;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly delay: Delay;
  readonly random: Random;
  /** The version of this program. */
  readonly release: string;
  /** The value of --propagation of the components. */
  readonly propagationSeconds: number;
  /** True if pages offer actions. Otherwise the paths of actions do not exist. */
  readonly canAct: boolean;
  readonly rules: RulesEngine;
  /** Plans as pod-refresher with its default flags. @throws KubeError */
  readonly planRestarts: () => Promise<RestartPlan>;
  /** Searches the ledger, or live objects where the person can query none. */
  readonly searchIssued: (
    query: IndexedQuery,
    signers: readonly ClusterSigner[],
  ) => Promise<CertificateSearchResult>;
}

/** A certificate with its row. */
export interface IssuedEntry {
  readonly row: IssuedCertificateRow;
  readonly found: FoundCertificate;
}

/** Certificates that a search found. */
export interface IssuedEntries {
  readonly entries: readonly IssuedEntry[];
  /** Searched places, for people. */
  readonly places: readonly string[];
  /** Number of records at which the search stopped although the ledger has more. */
  readonly cutAt?: number | undefined;
}

/** The results of reads so far. What is still being read for the first time is absent. */
export interface KnownReadings {
  readonly facts?: Facts | undefined;
  readonly signers?: ReadResult<SignerFacts> | undefined;
  readonly issued?: IssuedEntries | undefined;
  /** Objects read so far, or undefined if nothing is being read. */
  readonly reading: readonly ReadCount[] | undefined;
  /** Errors of the last reads, for people. */
  readonly failures: readonly string[];
}

/** Reads of the cluster for the pages. Requests that come together share one read. */
export interface Readings {
  readonly facts: () => Promise<Facts>;
  readonly signers: () => Promise<ReadResult<SignerFacts>>;
  readonly restarts: () => Promise<RestartPlan>;
  readonly issued: (query: IndexedQuery) => Promise<IssuedEntries>;
  /** Starts all reads that are due, and resolves when they have ended. Rejects if one failed. */
  readonly readAll: () => Promise<void>;
  /** Returns the results so far. Reads nothing. */
  readonly known: () => KnownReadings;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: () => number;
}

/** Age up to which a read answers another page: a person who follows links sees one state. */
const FRESH_MS = 15_000;
/** A slow read is reused for this multiple of its duration, which spares large clusters. */
const FRESH_TIMES = 3;

/** Creates the reader of a console, which sends nothing before a page needs it. */
export function createReadings(init: ConsoleInit): Readings {
  const { clock, release, propagationSeconds, namespace, secretNamespace, servingSigner } = init;
  const read = { clock, propagationSeconds, namespace, secretNamespace, servingSigner };
  let counting = countItems(init.client);
  const signers = shared(init.monotonic, () => readSigners({ client: init.client, ...read }));
  const facts = shared(init.monotonic, async (): Promise<Facts> => {
    counting = countItems(init.client);
    const { client } = counting;
    const [kubernetes, installed] = await Promise.all([
      readKubernetes(client),
      readInstallation({ client, ...read }, signers.read()),
    ]);
    return { kubernetes, installed, release };
  });
  const search = async (query: IndexedQuery): Promise<IssuedEntries> =>
    entriesOf(await init.searchIssued(query, signersOf(await signers.read())));
  const all = shared(init.monotonic, () => search({}));
  const reads = [signers, facts, all];
  return {
    facts: facts.read,
    signers: signers.read,
    restarts: shared(init.monotonic, init.planRestarts).read,
    issued: (query) =>
      Object.values(query).every((each) => each === undefined) ? all.read() : search(query),
    readAll: async () => {
      await Promise.all(reads.map((each) => each.read()));
    },
    known: () => ({
      facts: facts.known(),
      signers: signers.known(),
      issued: all.known(),
      reading: reads.some((each) => each.isPending()) ? counting.counts() : undefined,
      failures: [...new Set(reads.flatMap((each) => each.failure() ?? []))],
    }),
    now: () => serverTime(init),
  };
}

function signersOf(signers: ReadResult<SignerFacts>): readonly ClusterSigner[] {
  return 'value' in signers ? signers.value.states.map(({ signer }) => signer) : [];
}

function entriesOf({ found, places, cutAt }: CertificateSearchResult): IssuedEntries {
  const entries = found.map((each): IssuedEntry => {
    const { chain, signerName, namespace, source } = each;
    const holding = { signerName, holder: holderOf(each), namespace, source };
    return { row: issuedRow(chain[0], holding), found: each };
  });
  return { entries, places, cutAt };
}

/** A read that callers share. */
interface SharedRead<T> {
  readonly read: () => Promise<T>;
  /** Returns the last result, also while it is being read again. */
  readonly known: () => T | undefined;
  readonly isPending: () => boolean;
  /** Returns the message of the last read if it failed. */
  readonly failure: () => string | undefined;
}

/** Shares a read among callers, and keeps its result for a while. An error is not kept. */
function shared<T>(monotonic: Monotonic, read: () => Promise<T>): SharedRead<T> {
  let pending: Promise<T> | undefined;
  let last: { readonly value: T; readonly freshUntil: number } | undefined;
  let failure: string | undefined;
  async function start(): Promise<T> {
    const began = monotonic();
    try {
      const value = await read();
      const ended = monotonic();
      const freshUntil = ended + Math.max(FRESH_MS, FRESH_TIMES * (ended - began));
      last = { value, freshUntil };
      failure = undefined;
      return value;
    } catch (error) {
      last = undefined;
      failure = faultText(error);
      throw error;
    } finally {
      pending = undefined;
    }
  }
  return {
    read: () => {
      if (pending !== undefined) return pending;
      if (last !== undefined && monotonic() < last.freshUntil) return Promise.resolve(last.value);
      pending = start();
      return pending;
    },
    known: () => last?.value,
    isPending: () => pending !== undefined,
    failure: () => failure,
  };
}
