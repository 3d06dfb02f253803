// SPDX-License-Identifier: Apache-2.0
/** Requests as the page shows them: rows, filters and pages of rows. Pure. */
import { present } from '#base/object-keys.ts';
import type { KubeObject } from '#api/object/object.ts';
import { findCondition, hasTrueCondition, type Condition } from '#api/request/conditions.ts';

/** The kinds of requests, by the names that `countersign explain` takes. */
export type RowKind = 'csr' | 'pcr' | 'certificaterequest';

/** The state of a request. The first two wait. */
export type RowState = 'approval' | 'component' | 'issued' | 'denied' | 'failed';

/** One request. Every text in it is written by other people. */
export interface RequestRow {
  /** `csr/NAME`, `pcr/NAME` with `namespace`. */
  readonly subject: string;
  readonly namespace?: string;
  readonly signerName: string;
  /** User, pod, or ServiceAccount that requests. */
  readonly requester: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly state: RowState;
  /** Reason and message of the condition that ended it, or ''. */
  readonly note: string;
}

/** The parts of a request that are kept in memory. */
export interface KeptRequest extends KubeObject {
  readonly spec: {
    readonly signerName?: string;
    readonly username?: string;
    readonly podName?: string;
    readonly issuerRef?: { readonly kind?: string; readonly name?: string };
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly hasCertificate: boolean;
  };
}

/** A request with any fields, as the API server sends it. */
interface WholeRequest extends KubeObject {
  /** The definition of a CertificateRequest allows none. */
  readonly spec?: KeptRequest['spec'];
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly certificate?: string;
    readonly certificateChain?: string;
  };
}

/** Drops all that no row shows: PEM, extra fields of users, managed fields. */
export function keptRequest({
  apiVersion,
  kind,
  metadata,
  spec = {},
  status,
}: WholeRequest): KeptRequest {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const { signerName, username, podName, issuerRef } = spec;
  const { conditions } = status ?? {};
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      ...present('namespace', namespace),
    },
    spec: {
      ...present('signerName', signerName),
      ...present('username', username),
      ...present('podName', podName),
      ...present('issuerRef', issuerRef),
    },
    status: {
      ...present('conditions', conditions),
      hasCertificate: Boolean(status?.certificate ?? status?.certificateChain),
    },
  };
}

/** Returns the row of a request. */
export function requestRow(kind: RowKind, request: KeptRequest): RequestRow {
  const { metadata, spec, status } = request;
  const { signerName, username = '', podName, issuerRef } = spec;
  const state = stateOf(kind, status);
  return {
    subject: `${kind}/${metadata.name}`,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    signerName: signerName ?? `${issuerRef?.kind ?? 'Issuer'} ${issuerRef?.name ?? ''}`,
    requester: podName === undefined ? `user ${username}` : `pod ${podName}`,
    createdAt: metadata.creationTimestamp,
    state,
    note: noteOf(state, status?.conditions),
  };
}

function stateOf(kind: RowKind, status: KeptRequest['status']): RowState {
  const { conditions, hasCertificate = false } = status ?? {};
  if (hasTrueCondition(conditions, 'Denied')) return 'denied';
  if (hasCertificate) return 'issued';
  const ready = findCondition(conditions, 'Ready');
  if (hasTrueCondition(conditions, 'Failed') || ready?.reason === 'Failed') return 'failed';
  return kind === 'pcr' || hasTrueCondition(conditions, 'Approved') ? 'component' : 'approval';
}

const ENDS: Readonly<Partial<Record<RowState, readonly string[]>>> = {
  denied: ['Denied'],
  failed: ['Failed', 'Ready'],
};

function noteOf(state: RowState, conditions: readonly Condition[] | undefined): string {
  const found = (ENDS[state] ?? []).flatMap((type) => findCondition(conditions, type) ?? [])[0];
  return found === undefined ? '' : `${found.reason ?? ''}: ${found.message ?? ''}`;
}

/** The filter of the page's address. Absent: all. */
export interface RequestFilter {
  /** A state, or `waiting` for both states of waiting. */
  readonly state?: string | undefined;
  readonly signer?: string | undefined;
  readonly namespace?: string | undefined;
  /** First row, from 0. */
  readonly from: number;
}

/** Rows of one page. A person reads no more at once, and the browser stays fast. */
export const REQUESTS_A_PAGE = 50;

/** Reports whether a row belongs to the filter. */
export function matchesFilter(row: RequestRow, filter: RequestFilter): boolean {
  const { state, signer, namespace } = filter;
  const isWaiting = ['approval', 'component'].includes(row.state);
  return (
    (state === undefined || row.state === state || (state === 'waiting' && isWaiting)) &&
    (signer === undefined || row.signerName === signer) &&
    (namespace === undefined || row.namespace === namespace)
  );
}

/** Returns the identity of a row among all kinds and namespaces. */
export function rowKey({ subject, namespace = '' }: RequestRow): string {
  return `${namespace} ${subject}`;
}

/** One page of rows, and the number of all. */
export interface RequestPage {
  readonly rows: readonly RequestRow[];
  readonly total: number;
  readonly from: number;
}

/** Returns the rows of a page, newest first. */
export function requestPage(all: readonly RequestRow[], filter: RequestFilter): RequestPage {
  const found = all.filter((row) => matchesFilter(row, filter)).sort(newestFirst);
  const { from } = filter;
  return { rows: found.slice(from, from + REQUESTS_A_PAGE), total: found.length, from };
}

function newestFirst(a: RequestRow, b: RequestRow): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return rowKey(a) < rowKey(b) ? -1 : 1;
}

/** A change of a page, as the stream sends it: rows that are new or changed, or the whole page. */
export type RequestDelta =
  { readonly page: RequestPage } | { readonly put: readonly RequestRow[]; readonly total: number };

/** Applies a delta to the rows of a page. */
export function withDelta(page: RequestPage, delta: RequestDelta): RequestPage {
  if ('page' in delta) return delta.page;
  const rows = new Map(page.rows.map((row) => [rowKey(row), row]));
  for (const row of delta.put) rows.set(rowKey(row), row);
  const sorted = [...rows.values()].sort(newestFirst).slice(0, REQUESTS_A_PAGE);
  return { rows: sorted, total: delta.total, from: page.from };
}
