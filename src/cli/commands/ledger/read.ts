// SPDX-License-Identifier: Apache-2.0
/** Reads records through the API server. */
import { LEDGER_API } from '../../../api/signer/own-tls.ts';
import type { RecordList, RecordObject } from '../../../controllers/ledger/api/object.ts';
import { SignerError } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';

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
}

/** Flags whose field is of the same name, or of this one. */
const FIELDS = [
  ...(['serial', 'fingerprint', 'san', 'spiffe', 'subject', 'pod', 'serviceAccount'] as const),
  ...(['user', 'node', 'signer', 'ca', 'rule', 'request', 'kind', 'since', 'until'] as const),
  'expiresIn',
] as const;

const RECORDS = resource({ ...LEDGER_API, plural: 'records' });
const MOST_A_PAGE = 500;

/** The field selector of a choice. */
function selectorOf(choice: Choice): string {
  const parts = FIELDS.flatMap((field) => {
    const value = choice[field];
    return value === undefined ? [] : [`${field}=${escaped(value)}`];
  });
  const { podUid } = choice;
  return [...parts, ...(podUid === undefined ? [] : [`podUID=${escaped(podUid)}`])].join(',');
}

/** Whether a choice says more than a namespace. */
export function isSelective(choice: Choice): boolean {
  return selectorOf(choice) !== '';
}

/** As apimachinery's fields.EscapeValue. */
function escaped(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
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
 * @throws KubeError, and SignerError LEDGER_UNAVAILABLE where the cluster has no such API
 */
export async function* pagesOf(
  client: Client,
  choice: Choice,
  { limit, oldestFirst = false, from, after }: Reading,
): AsyncGenerator<RecordList> {
  const fieldSelector = selectorOf(choice);
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

/** Says what is missing where there is no ledger. */
export async function readable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof KubeError) || !isAbsent(error)) throw error;
    const message = `the cluster serves no ${LEDGER_API.group}/${LEDGER_API.version}: install the component ledger, and look at kubectl get apiservice ${LEDGER_API.version}.${LEDGER_API.group}`;
    throw new SignerError({
      ...{ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message },
      cause: error,
    });
  }
}

/**
 * The API server knows no such group (it says so in one of two ways), or cannot reach who serves it; a record that is not
 * there has a name in the answer.
 */
function isAbsent({ status, message }: KubeError): boolean {
  const isUnknown = /could not find the requested|404 page not found/.test(message);
  return status === 503 || (status === 404 && isUnknown);
}
