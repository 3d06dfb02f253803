// SPDX-License-Identifier: Apache-2.0
/** Reads records of the ledger back, through the API server, as everybody does who may: nobody waits for it. */
import { LEDGER_API } from '../../api/signer/own-tls.ts';
import { attempt, messageOf, SignerError } from '../../errors.ts';
import type { Client } from '../../kube/client/client.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { backoffDelay } from '../../kube/wait/backoff.ts';
import type { LedgerRecord } from '../../ledger/records/record.ts';
import { decodeCertificate, type Certificate } from '../../pki/x509/certificate.ts';
import type { Delay, Log, Random } from '../../ports.ts';

/** What reading takes of a component. */
export interface ReadingComponent {
  readonly client: Pick<Client, 'request'>;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** A record as the API shows it (`kubectl get records -o json`). */
export interface RecordedFact {
  readonly metadata: { readonly name: string };
  readonly record: LedgerRecord | { readonly kind: 'erased' };
  /** What became of a certificate. */
  readonly results?: readonly { readonly outcome: string }[];
}

/** Which records, oldest first. */
export interface FactsQuery {
  /** As `kubectl get records --field-selector` takes it. */
  readonly selector: string;
  /** The name of a record that is known, with all before it: `1-42`. */
  readonly after?: string | undefined;
}

/** Where decisions take what happened before: from the ledger, or only from what this process has seen. */
export type FactsSource = 'ledger' | 'start';

/** A reader of facts as its component runs it. */
export interface FactsReader {
  readonly source: () => FactsSource;
  readonly warnings: () => readonly string[];
  /** Reads until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Some 2 KiB each; what is kept of one is less. */
const RECORDS_A_PAGE = 100;
/** What other replicas did meanwhile is known after that. */
const EVERY_MS = 60_000;
const RETRY = { firstMs: 5_000, maxMs: 300_000 };

/** Who reads the ledger must be granted both: the API server asks for `list`, and the ledger for `get` (ADR 0056). */
export const TO_READ_RECORDS: PermissionRule = {
  apiGroups: [LEDGER_API.group],
  resources: ['records'],
  verbs: ['get', 'list'],
};

/**
 * The records of a query, in pages: no more than one page is in memory.
 *
 * @throws KubeError while the ledger is away, or if this component may not read it
 */
export async function* recordPages(
  { client }: Pick<ReadingComponent, 'client'>,
  { selector, after }: FactsQuery,
): AsyncGenerator<readonly RecordedFact[]> {
  const path = `/apis/${LEDGER_API.group}/${LEDGER_API.version}/records`;
  let from: string | undefined;
  do {
    const page = await client.request<{
      readonly items: readonly RecordedFact[];
      readonly metadata: { readonly continue?: string };
    }>({
      method: 'GET',
      path,
      isAggregated: true,
      query: {
        fieldSelector: selector,
        limit: RECORDS_A_PAGE,
        order: 'oldest',
        after,
        continue: from,
      },
    });
    yield page.items;
    from = page.metadata.continue;
  } while (from !== undefined && from !== '');
}

/** The leaf of a record, unless it reached nobody. One without a result may have been delivered. */
export function deliveredLeaf({ record, results = [] }: RecordedFact): Certificate | undefined {
  if (record.kind !== 'issued') return undefined;
  if (results.length > 0 && !results.some(({ outcome }) => outcome === 'delivered'))
    return undefined;
  const leaf = attempt(() => decodeCertificate(Buffer.from(record.certificate, 'base64')));
  return leaf instanceof SignerError ? undefined : leaf;
}

/**
 * Reads at the start, and then every minute what is new. While that fails, it is said, and tried again with a back-off; what
 * depends on it goes by what this process has seen.
 *
 * @param read - reads what is new; resolves to whether it has all
 */
export function createFacts(
  component: Omit<ReadingComponent, 'client'>,
  read: () => Promise<boolean>,
): FactsReader {
  let source: FactsSource = 'start';
  let fault: string | undefined;
  let failures = 0;
  async function pass(): Promise<number> {
    try {
      source = (await read()) ? 'ledger' : 'start';
      if (fault !== undefined) component.log.info({}, 'the ledger can be read again');
      [fault, failures] = [undefined, 0];
      return source === 'ledger' ? EVERY_MS : RETRY.firstMs;
    } catch (error) {
      const message = messageOf(error);
      if (fault !== message)
        component.log.warn({ error: message }, 'the ledger cannot be read for facts');
      [source, fault] = ['start', message];
      failures += 1;
      return backoffDelay(failures - 1, { ...RETRY, random: component.random });
    }
  }
  return {
    source: () => source,
    warnings: () =>
      fault === undefined
        ? []
        : [`the ledger cannot be read, so facts are those since the start: ${fault}`],
    run: async (signal) => {
      while (!signal.aborted) {
        const pause = await pass();
        await component.delay(pause, signal).catch(() => undefined);
      }
    },
  };
}
