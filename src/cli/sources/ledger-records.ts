// SPDX-License-Identifier: Apache-2.0
/** Reads records through the API server. */
import { LEDGER_API } from '../../api/signer/own-tls.ts';
import type { RecordList, RecordObject } from '../../controllers/ledger/api/object.ts';
import { askedBy } from '../../controllers/ledger/api/selector.ts';
import { attempt, SignerError, usageError } from '../../errors.ts';
import type { Client } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { resource } from '../../kube/resource/resource.ts';
import { type Certificate, decodeCertificate } from '../../pki/x509/certificate.ts';
import { RECORDS, selectorValue } from '../../runtime/recording/facts.ts';

/** The flags by which records are chosen. */
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

/** Flags whose field is of the same name, or of this one. */
const FIELDS = [
  ...(['serial', 'fingerprint', 'san', 'spiffe', 'subject', 'pod', 'serviceAccount'] as const),
  ...(['user', 'node', 'signer', 'ca', 'rule', 'request', 'kind', 'since', 'until'] as const),
  ...(['expiresIn', 'expiresAfter'] as const),
] as const;

/** The logs of the ledger. */
export const LOGS = resource({ ...LEDGER_API, plural: 'logs' });
const MOST_A_PAGE = 500;

/** The field selector of a choice. */
function selectorOf(choice: Choice): string {
  const parts = FIELDS.flatMap((field) => {
    const value = choice[field];
    return value === undefined ? [] : [`${field}=${selectorValue(value)}`];
  });
  const { podUid } = choice;
  return [...parts, ...(podUid === undefined ? [] : [`podUID=${selectorValue(podUid)}`])].join(',');
}

/** Whether a choice says more than a namespace. */
export function isSelective(choice: Choice): boolean {
  return selectorOf(choice) !== '';
}

/**
 * Says what the ledger would refuse before it is asked: a wrong value of a flag is an error of usage.
 *
 * @throws SignerError USAGE
 */
function assertUnderstood(fieldSelector: string, namespace: string | undefined): void {
  const asked = askedBy(fieldSelector, {
    now: Date.now(),
    ...(namespace === undefined ? {} : { namespace }),
  });
  if ('fault' in asked) throw usageError(asked.fault);
}

/** How the records of a choice are read. */
export interface Reading {
  readonly oldestFirst?: boolean;
  /** Of all pages together; 0: no end. */
  readonly limit: number;
  /** Of a former reading. */
  readonly from?: string | undefined;
  /** With the oldest first: the name of a record that is there already, with all before it. */
  readonly after?: string | undefined;
}

/**
 * The pages of a choice, until there are no more or the limit is reached. The last page has a token where there are more.
 *
 * @throws KubeError, and SignerError LEDGER_UNAVAILABLE where the cluster has no such API, USAGE where a value is wrong
 */
export async function* pagesOf(
  client: Client,
  choice: Choice,
  { limit, oldestFirst = false, from, after }: Reading,
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
          limit: Math.min(left, MOST_A_PAGE),
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

/** One record with its proof. @throws as {@link pagesOf} */
export function recordNamed(
  client: Client,
  name: string,
  namespace: string | undefined,
): Promise<RecordObject> {
  return readable(
    client.request<RecordObject>({ method: 'GET', path: RECORDS.object({ namespace, name }) }),
  );
}

/** Says what is missing where no ledger answers. */
export async function readable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const fault = error instanceof KubeError ? faultOf(error) : undefined;
    if (fault !== 'absent' && fault !== 'unreachable') throw error;
    const what =
      fault === 'absent'
        ? `the cluster serves no ${LEDGER_API.group}/${LEDGER_API.version}: install the component ledger`
        : `who serves ${LEDGER_API.group}/${LEDGER_API.version} does not answer: see whether the component ledger runs`;
    const message = `${what}, and look at kubectl get apiservice ${LEDGER_API.version}.${LEDGER_API.group}`;
    throw new SignerError({
      ...{ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message },
      cause: error,
    });
  }
}

/** Why a ledger cannot be asked: none is installed, none answers, or this user may not read it. */
export type LedgerFault = 'absent' | 'unreachable' | 'forbidden';

/** @param error - of {@link pagesOf}; undefined: another fault than these */
export function ledgerFault(error: unknown): LedgerFault | undefined {
  if (error instanceof KubeError) return faultOf(error);
  return error instanceof SignerError ? ledgerFault(error.cause) : undefined;
}

/**
 * The API server knows no such group (it says so in one of two ways), or cannot reach who serves it; a record that is not
 * there has a name in the answer.
 */
function faultOf({ status, message }: KubeError): LedgerFault | undefined {
  if (status === 503) return 'unreachable';
  if (status === 403) return 'forbidden';
  const isUnknown = /could not find the requested|404 page not found/.test(message);
  return status === 404 && isUnknown ? 'absent' : undefined;
}

/** The certificate of a record; nothing if it has none, or one that cannot be read. */
export function certificateOf({ record }: RecordObject): Certificate | undefined {
  if (!('certificate' in record)) return undefined;
  const read = attempt(() => decodeCertificate(Buffer.from(record.certificate, 'base64')));
  return read instanceof SignerError ? undefined : read;
}
