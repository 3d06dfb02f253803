// SPDX-License-Identifier: Apache-2.0
/**
 * Reads records back from the ledger's own port. No request waits for it, and no decision trusts
 * it.
 */
import { LEDGER_API } from '#api/signer/own-tls.ts';
import { attempt, messageOf, SignerError } from '#base/errors.ts';
import { resource } from '#kube/resource/resource.ts';
import type { LedgerReader } from '#ledger/sender/reader.ts';
import { backoffDelay } from '#kube/wait/backoff.ts';
import { readListedPage, type ListedPage, type ListedRecord } from '#ledger/records/listed.ts';
import { malformedRecord } from '#ledger/records/malformed.ts';
import { idOfName } from '#ledger/records/ids.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import type { Delay, Log, Monotonic, Random } from '#base/ports.ts';
import { printable } from '#base/quote.ts';
import * as messages from './messages.ts';

/** Dependencies of reading. */
export interface ReadingComponent {
  readonly monotonic: Monotonic;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Selects records, oldest first. */
export interface FactsQuery {
  /** The reader that fetches them. */
  readonly ledger: LedgerReader;
  /**
   * Selector as in `kubectl get records --field-selector`. Escape untrusted values by
   * {@link selectorValue}.
   */
  readonly selector: string;
  /** Name of the last known record, such as `1-42`. */
  readonly after?: string | undefined;
}

/** Source of facts about the past: the ledger, or only what this process has seen. */
export type FactsSource = 'ledger' | 'start';

/** A reader of facts that its component runs. */
export interface FactsReader {
  readonly source: () => FactsSource;
  readonly warnings: () => readonly string[];
  /** Reads until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A record takes some 2 KiB. Readers keep less of it. */
const RECORDS_A_PAGE = 100;
/** The ledger sends 8 MiB, or one record, of which no batch has more than 16. */
const MAX_PAGE_BYTES = 24 * 1024 * 1024;
/** Limits a read to a million records, so that an endless ledger cannot block it. */
const MAX_PAGES = 10_000;
/**
 * Rest after each page, as a multiple of its duration, so that reading takes at most a quarter of
 * the time.
 */
const RESTS = 3;
/** Interval between reads, after which records of other replicas are known. */
const EVERY_MS = 60_000;
const RETRY = { firstMs: 5_000, maxMs: 300_000 };
/** Maximum UTF-16 units of an error in a log, since the ledger may have written it. */
const MAX_FAULT_TEXT = 300;

/** Records of all namespaces, or of one. */
export const RECORDS = resource({ ...LEDGER_API, plural: 'records' });

/**
 * Escapes `text` as a value of a selector (apimachinery's fields.EscapeValue), since the UID of a
 * request can have any character.
 */
export function selectorValue(text: string): string {
  return text.replace(/[\\,=]/g, '\\$&');
}

/**
 * Yields the records of a query in pages, with at most one page in memory. Rests after each page.
 *
 * @throws SignerError LEDGER_UNAVAILABLE while the ledger is unavailable or denies access
 * @throws SignerError LEDGER_MALFORMED if its answer is invalid
 */
export async function* recordPages(
  { monotonic, delay }: Pick<ReadingComponent, 'monotonic' | 'delay'>,
  { ledger, selector, after }: FactsQuery,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedRecord[]> {
  const fixed = { fieldSelector: selector, limit: RECORDS_A_PAGE, order: 'oldest', after };
  let last = after === undefined ? undefined : idOfName(after);
  let from: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const begun = monotonic();
    const page = await ledger.get({
      path: RECORDS.collection(),
      query: { ...fixed, continue: from },
      maxBytes: MAX_PAGE_BYTES,
      signal,
    });
    const { records, next } = readListedPage(page, RECORDS_A_PAGE);
    last = lastOf(records, last);
    yield records;
    if (next === undefined) return;
    from = next;
    await rest(delay, RESTS * (monotonic() - begun), signal);
  }
  throw malformedRecord(messages.ENDLESS_PAGES);
}

/**
 * Returns the last id. Requires increasing ids, so that the same records are not read forever.
 *
 * @throws SignerError LEDGER_MALFORMED
 */
function lastOf(records: ListedPage['records'], before: number | undefined): number | undefined {
  return records.reduce<number | undefined>((last, { name }) => {
    const id = idOfName(name);
    if (id === undefined || id <= (last ?? -1)) throw malformedRecord(messages.NOT_IN_ORDER);
    return id;
  }, before);
}

async function rest(delay: Delay, milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds > 0) await delay(milliseconds, signal);
}

/**
 * Returns the leaf of a record, unless it was never delivered. One without a result may have been
 * delivered.
 */
export function deliveredLeaf({ record, outcomes }: ListedRecord): Certificate | undefined {
  if (record?.kind !== 'issued') return undefined;
  if (outcomes.length > 0 && !outcomes.includes('delivered')) return undefined;
  const leaf = attempt(() => decodeCertificate(Buffer.from(record.certificate, 'base64')));
  return leaf instanceof SignerError ? undefined : leaf;
}

/**
 * Reads at the start and then the new records every minute. Reports failures and retries with
 * backoff. Meanwhile its users rely on what this process has seen.
 *
 * @param read - reads new records and resolves to whether it has all
 */
export function createFacts(
  component: ReadingComponent,
  read: (signal: AbortSignal) => Promise<boolean>,
): FactsReader {
  let source: FactsSource = 'start';
  let fault: string | undefined;
  let failures = 0;
  async function pass(signal: AbortSignal): Promise<number> {
    try {
      source = (await read(signal)) ? 'ledger' : 'start';
      if (fault !== undefined) component.log.info({}, messages.LEDGER_READABLE);
      [fault, failures] = [undefined, 0];
      return source === 'ledger' ? EVERY_MS : RETRY.firstMs;
    } catch (error) {
      if (signal.aborted) return 0;
      const message = printable(messageOf(error).slice(0, MAX_FAULT_TEXT));
      if (fault !== message) component.log.warn({ error: message }, messages.LEDGER_UNREADABLE);
      [source, fault] = ['start', message];
      failures += 1;
      return backoffDelay(failures - 1, { ...RETRY, random: component.random });
    }
  }
  return {
    source: () => source,
    warnings: () => (fault === undefined ? [] : [messages.factsSinceStart(fault)]),
    run: async (signal) => {
      while (!signal.aborted) {
        const pause = await pass(signal);
        await component.delay(pause, signal).catch(() => undefined);
      }
    },
  };
}
