// SPDX-License-Identifier: Apache-2.0
/** Reads records of the ledger back, through the API server, as everybody does who may: nobody waits for it, nor believes it. */
import { LEDGER_API } from '../../api/signer/own-tls.ts';
import { attempt, messageOf, SignerError } from '../../errors.ts';
import type { Client } from '../../kube/client/client.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { resource } from '../../kube/resource/resource.ts';
import { backoffDelay } from '../../kube/wait/backoff.ts';
import { readListedPage, type ListedPage, type ListedRecord } from '../../ledger/records/listed.ts';
import { malformedRecord } from '../../ledger/records/malformed.ts';
import { idOfName } from '../../ledger/records/ids.ts';
import { decodeCertificate, type Certificate } from '../../pki/x509/certificate.ts';
import type { Delay, Log, Monotonic, Random } from '../../ports.ts';
import { printable } from '../../quote.ts';

/** What reading takes of a component. */
export interface ReadingComponent {
  readonly client: Pick<Client, 'request'>;
  readonly monotonic: Monotonic;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Which records, oldest first. */
export interface FactsQuery {
  /** As `kubectl get records --field-selector` takes it; values that others chose by {@link selectorValue}. */
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
/** The ledger gives 8 MiB, or one record, of which no batch has more than 16. */
const MAX_PAGE_BYTES = 24 * 1024 * 1024;
/** A million records: a ledger whose pages do not end is not read to the end. */
const MOST_PAGES = 10_000;
/** A page is followed by a rest of three times as long: reading takes a quarter of the time at most, whatever is answered. */
const RESTS = 3;
/** What other replicas did meanwhile is known after that. */
const EVERY_MS = 60_000;
const RETRY = { firstMs: 5_000, maxMs: 300_000 };
/** UTF-16 units of an error that are said: the ledger can have written it. */
const MAX_FAULT_TEXT = 300;

/** Who reads the ledger must be granted both: the API server asks for `list`, and the ledger for `get` (ADR 0056). */
export const TO_READ_RECORDS: PermissionRule = {
  apiGroups: [LEDGER_API.group],
  resources: ['records'],
  verbs: ['get', 'list'],
};

/** Records, of all namespaces or of one. */
export const RECORDS = resource({ ...LEDGER_API, plural: 'records' });

/** `text` as a value of a selector (apimachinery's fields.EscapeValue): a UID of a request can have any character. */
export function selectorValue(text: string): string {
  return text.replace(/[\\,=]/g, '\\$&');
}

/**
 * The records of a query, in pages: no more than one page is in memory. It goes on with a rest after each page.
 *
 * @throws KubeError while the ledger is away, or if this component may not read it
 * @throws SignerError LEDGER_MALFORMED if what it answers cannot be
 */
export async function* recordPages(
  { client, monotonic, delay }: Pick<ReadingComponent, 'client' | 'monotonic' | 'delay'>,
  { selector, after }: FactsQuery,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedRecord[]> {
  const fixed = { fieldSelector: selector, limit: RECORDS_A_PAGE, order: 'oldest', after };
  let last = after === undefined ? undefined : idOfName(after);
  let from: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const begun = monotonic();
    const page = await client.request<unknown>({
      ...{ method: 'GET', path: RECORDS.collection(), query: { ...fixed, continue: from } },
      ...{ isAggregated: true, maxBytes: MAX_PAGE_BYTES, signal },
    });
    const { records, next } = readListedPage(page, RECORDS_A_PAGE);
    last = lastOf(records, last);
    yield records;
    if (next === undefined) return;
    from = next;
    await rest(delay, RESTS * (monotonic() - begun), signal);
  }
  throw malformedRecord('its pages do not end');
}

/** The same records again would be read for ever. @throws SignerError LEDGER_MALFORMED */
function lastOf(records: ListedPage['records'], before: number | undefined): number | undefined {
  return records.reduce<number | undefined>((last, { name }) => {
    const id = idOfName(name);
    if (id === undefined || id <= (last ?? -1)) throw malformedRecord('it is not in order');
    return id;
  }, before);
}

async function rest(delay: Delay, milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds > 0) await delay(milliseconds, signal);
}

/** The leaf of a record, unless it reached nobody. One without a result may have been delivered. */
export function deliveredLeaf({ record, outcomes }: ListedRecord): Certificate | undefined {
  if (record?.kind !== 'issued') return undefined;
  if (outcomes.length > 0 && !outcomes.includes('delivered')) return undefined;
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
  read: (signal: AbortSignal) => Promise<boolean>,
): FactsReader {
  let source: FactsSource = 'start';
  let fault: string | undefined;
  let failures = 0;
  async function pass(signal: AbortSignal): Promise<number> {
    try {
      source = (await read(signal)) ? 'ledger' : 'start';
      if (fault !== undefined) component.log.info({}, 'the ledger can be read again');
      [fault, failures] = [undefined, 0];
      return source === 'ledger' ? EVERY_MS : RETRY.firstMs;
    } catch (error) {
      if (signal.aborted) return 0;
      const message = printable(messageOf(error).slice(0, MAX_FAULT_TEXT));
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
        const pause = await pass(signal);
        await component.delay(pause, signal).catch(() => undefined);
      }
    },
  };
}
