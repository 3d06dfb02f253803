// SPDX-License-Identifier: Apache-2.0
/** Reads records of the ledger, by a client that reaches it (`user-client.ts`). */
import { LEDGER_API, LEDGER_SERVICE } from '#api/signer/own-tls.ts';
import type { RecordList, RecordObject } from '#ledger/ledger/api/object.ts';
import { parseFieldSelector } from '#ledger/ledger/api/selector.ts';
import { attempt, messageOf, SignerError, usageError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { type Certificate, decodeCertificate } from '#pki/x509/certificate.ts';
import { RECORDS, selectorValue } from '#requests/recording/facts.ts';

/** The flags that select records. */
export interface Choice {
  readonly namespace?: string;
  readonly serial?: string;
  readonly fingerprint?: string;
  readonly san?: string;
  readonly spiffe?: string;
  readonly subject?: string;
  readonly pod?: string;
  readonly podUid?: string;
  readonly serviceAccount?: string;
  readonly user?: string;
  readonly node?: string;
  readonly signer?: string;
  readonly ca?: string;
  readonly rule?: string;
  readonly request?: string;
  readonly kind?: string;
  readonly since?: string;
  readonly until?: string;
  readonly expiresIn?: string;
  /** A time in RFC 3339. */
  readonly expiresAfter?: string;
}

/** Fields with the name of their flag, or with this one. */
const FIELDS = [
  ...(['serial', 'fingerprint', 'san', 'spiffe', 'subject', 'pod', 'serviceAccount'] as const),
  ...(['user', 'node', 'signer', 'ca', 'rule', 'request', 'kind', 'since', 'until'] as const),
  ...(['expiresIn', 'expiresAfter'] as const),
] as const;

/** The logs of the ledger. */
export const LOGS = resource({ ...LEDGER_API, plural: 'logs' });
const MAX_A_PAGE = 500;

/** Returns the field selector of a choice. */
function selectorOf(choice: Choice): string {
  const parts = FIELDS.flatMap((field) => {
    const value = choice[field];
    return value === undefined ? [] : [`${field}=${selectorValue(value)}`];
  });
  const { podUid } = choice;
  return [...parts, ...(podUid === undefined ? [] : [`podUID=${selectorValue(podUid)}`])].join(',');
}

/** Reports whether a choice has more than a namespace. */
export function isSelective(choice: Choice): boolean {
  return selectorOf(choice) !== '';
}

/**
 * Checks a selector before the request, so that a wrong value of a flag is a usage error.
 *
 * @throws SignerError USAGE
 */
function assertUnderstood(fieldSelector: string, namespace: string | undefined): void {
  const asked = parseFieldSelector(fieldSelector, {
    now: Date.now(),
    ...(namespace === undefined ? {} : { namespace }),
  });
  if ('fault' in asked) throw usageError(asked.fault);
}

/** Options for reading the records of a choice. */
export interface RecordReadOptions {
  readonly oldestFirst?: boolean;
  /** Limit of all pages together, where 0 means none. */
  readonly limit: number;
  /** Token of an earlier read. */
  readonly from?: string | undefined;
  /** Name of the last known record, with the oldest first. The read begins after it. */
  readonly after?: string | undefined;
}

/**
 * Yields the pages of a choice, until the end or the limit. The last page has a token if there are
 * more.
 *
 * @throws KubeError, SignerError LEDGER_UNAVAILABLE if the cluster has no such API, or USAGE for a
 * wrong value
 */
export async function* pagesOf(
  client: Client,
  choice: Choice,
  { limit, oldestFirst = false, from, after }: RecordReadOptions,
): AsyncGenerator<RecordList> {
  const fieldSelector = selectorOf(choice);
  assertUnderstood(fieldSelector, choice.namespace);
  let [left, token] = [limit === 0 ? Infinity : limit, from];
  do {
    const page = await readable(
      client.request<RecordList>({
        method: 'GET',
        path: RECORDS.collection(choice.namespace),
        query: {
          fieldSelector: fieldSelector === '' ? undefined : fieldSelector,
          limit: Math.min(left, MAX_A_PAGE),
          order: oldestFirst ? 'oldest' : undefined,
          after: token === undefined ? after : undefined,
          continue: token,
        },
      }),
    );
    yield page;
    left -= page.items.length;
    token = page.metadata.continue;
  } while (token !== undefined && left > 0);
}

/**
 * Returns one record with its proof.
 *
 * @throws the errors of {@link pagesOf}
 */
export function recordNamed(
  client: Client,
  name: string,
  namespace: string | undefined,
): Promise<RecordObject> {
  return readable(
    client.request<RecordObject>({ method: 'GET', path: RECORDS.object({ namespace, name }) }),
  );
}

/** Adds the missing part to the error if no ledger answers. */
export async function readable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const fault = error instanceof KubeError ? faultOf(error) : undefined;
    if (fault !== 'absent' && fault !== 'unreachable') throw error;
    if (OWN_REASON.test(messageOf(error))) throw withOwnReason(error);
    const message =
      fault === 'absent'
        ? `the cluster has no Service ${LEDGER_SERVICE}: install the component ledger, or write --ledger-namespace`
        : 'the ledger does not answer: see whether the component ledger runs (countersign check)';
    throw new SignerError({
      code: 'LEDGER_UNAVAILABLE',
      disposition: 'retry',
      message,
      cause: error,
    });
  }
}

/** Start of the ledger's own reason, which proves that the API server has reached it. */
const OWN_REASON = /the ledger cannot answer now: .*/s;

function withOwnReason(cause: unknown): SignerError {
  const [message = ''] = OWN_REASON.exec(messageOf(cause)) ?? [];
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message, cause });
}

/**
 * Reason why a ledger cannot be queried: none is installed, none answers, this user may not read
 * it, or the command must write nothing.
 */
export type LedgerFault = 'absent' | 'unreachable' | 'forbidden' | 'unread';

/** Reason of a dry run that did not read the ledger. */
export const LEDGER_UNREAD =
  'the ledger was not read: that needs a CertificateSigningRequest, and --dry-run creates nothing';

/** A dry run did not read the ledger: {@link LEDGER_UNREAD}. */
export class LedgerUnreadError extends SignerError {
  constructor() {
    super({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message: LEDGER_UNREAD });
    this.name = 'LedgerUnreadError';
  }
}

/**
 * Returns the fault of the ledger that an error shows.
 *
 * @param error - of {@link pagesOf}
 * @returns undefined for another fault
 */
export function ledgerFault(error: unknown): LedgerFault | undefined {
  if (error instanceof KubeError) return faultOf(error);
  if (error instanceof LedgerUnreadError) return 'unread';
  return error instanceof SignerError ? ledgerFault(error.cause) : undefined;
}

const NO_SERVICE = new RegExp(`services "[^"]*${LEDGER_SERVICE}[^"]*" not found`);

/**
 * Returns the fault of a response. The API server does not know the group (it has two messages for
 * that), has no Service of the ledger, or cannot reach its server. The response for a missing
 * record has its name.
 */
function faultOf({ status, message }: KubeError): LedgerFault | undefined {
  if (status === 503) return 'unreachable';
  if (status === 403) return 'forbidden';
  const isUnknown =
    /could not find the requested|404 page not found/.test(message) || NO_SERVICE.test(message);
  return status === 404 && isUnknown ? 'absent' : undefined;
}

/** Returns the certificate of a record, or undefined without a readable one. */
export function certificateOf({ record }: RecordObject): Certificate | undefined {
  if (!('certificate' in record)) return undefined;
  const read = attempt(() => decodeCertificate(Buffer.from(record.certificate, 'base64')));
  return read instanceof SignerError ? undefined : read;
}
