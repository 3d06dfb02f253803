// SPDX-License-Identifier: Apache-2.0
import type { VNode } from 'preact';
import type { Explanation, RuleVerdict, TimelineEntry } from '#diagnose/explain/explanation.ts';
import {
  REQUESTS_A_PAGE,
  rowKey,
  type RequestFilter,
  type RequestPage,
  type RequestRow,
  type RowState,
} from '../pages/requests.ts';
import { actionLinks } from './act.ts';
import { addressOf, type PageQuery, type View } from './address.ts';
import { el, type Content } from './element.ts';
import { choiceOf, fieldOf, linkTo, notesOf, pagerOf, timeOf } from './parts.ts';

/** The data of the page Requests. */
export interface RequestsModel {
  readonly page: RequestPage;
  readonly filter: RequestFilter;
  readonly failures: readonly string[];
  /** The request to explain, as in the address. */
  readonly subject?: string | undefined;
  /** Its namespace, as in the address. */
  readonly namespace?: string | undefined;
  /** Its explanation, or why there is none. */
  readonly explanation?: Explanation | string | undefined;
  /** True if it waits for approval. */
  readonly isUndecided?: boolean;
}

const STATES: Readonly<Record<RowState, string>> = {
  approval: 'waits for approval',
  component: 'waits for a component',
  issued: 'issued',
  denied: 'denied',
  failed: 'failed',
};
const TITLES = ['Request', 'Namespace', 'Signer name', 'Requester', 'Age', 'State', 'Explanation'];

/** Returns the parameters of a filter in an address. */
function queryOf({ state, signer, namespace, from }: RequestFilter): PageQuery {
  return { state, signer, namespace, from: from === 0 ? undefined : from };
}

/** Returns the page Requests. */
export function requestsView(view: View, model: RequestsModel): VNode {
  const { page, filter, failures, subject } = model;
  const query = queryOf(filter);
  const beside = subject === undefined ? undefined : explanationPart(view, model);
  return el(
    'div',
    {},
    filterForm(view, filter),
    notesOf('Not shown, or not up to date', failures, 'failures'),
    el('p', { id: 'live', role: 'status' }, countText(page)),
    beside,
    el(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Requests' },
      el(
        'table',
        {},
        el('caption', {}, 'Requests, newest first'),
        el('thead', {}, el('tr', {}, ...TITLES.map((title) => el('th', { scope: 'col' }, title)))),
        el(
          'tbody',
          {
            id: 'rows',
            'data-stream': addressOf(view, 'stream', query),
            'data-prefix': view.prefix,
          },
          ...rowsOf(view, page.rows, query),
        ),
      ),
    ),
    pagerOf(view, ['requests', query], { ...page, size: REQUESTS_A_PAGE }),
  );
}

/** Returns the sentence about the number of requests. */
export function countText({ total }: RequestPage): string {
  return total === 1 ? '1 request' : `${total} requests`;
}

/** Returns the rows of the table. The browser renders the same rows from the stream. */
export function rowsOf(
  view: View,
  rows: readonly RequestRow[],
  query: PageQuery,
): readonly VNode[] {
  return rows.map((row) => {
    const { subject, namespace = '', signerName, requester, createdAt, state, note } = row;
    const explain = { ...query, explain: subject, in: namespace };
    const cells: readonly Content[] = [
      namespace,
      signerName,
      requester,
      timeOf(createdAt, view),
      el('span', { class: `state ${state}` }, STATES[state], note === '' ? '' : `: ${note}`),
      linkTo(
        view,
        ['requests', explain],
        'explain',
        el('span', { class: 'hidden' }, ` ${subject}`),
      ),
    ];
    return el(
      'tr',
      { key: rowKey(row) },
      el('th', { scope: 'row' }, subject),
      ...cells.map((cell, index) => el('td', { 'data-title': TITLES[index + 1] ?? '' }, cell)),
    );
  });
}

function filterForm(view: View, { state, signer, namespace }: RequestFilter): VNode {
  const states = Object.entries(STATES);
  return el(
    'form',
    { method: 'get', action: addressOf(view, 'requests'), role: 'search' },
    choiceOf(['state', 'State'], [['', 'all'], ['waiting', 'waiting'], ...states], state),
    fieldOf('signer', 'Signer name', signer),
    fieldOf('namespace', 'Namespace', namespace),
    el('button', {}, 'Show'),
  );
}

const MARKS: Readonly<Record<RuleVerdict['outcome'], string>> = {
  approve: 'approves',
  deny: 'denies',
  noOpinion: 'has no opinion',
};

function explanationPart(view: View, model: RequestsModel): VNode {
  const { subject = '', namespace, explanation, isUndecided = false } = model;
  const decisions = (['approve', 'deny'] as const).map((verb) => {
    return { verb, subject, in: namespace };
  });
  const content =
    typeof explanation === 'object'
      ? explanationContent(explanation)
      : [el('p', { class: 'lacks' }, explanation ?? 'This request was not found.')];
  return el(
    'section',
    { class: 'explanation', 'aria-label': 'Explanation' },
    el('h2', {}, subject),
    isUndecided ? actionLinks(view, decisions) : undefined,
    ...content,
  );
}

function explanationContent(explanation: Explanation): readonly Content[] {
  const { state, summary, timeline, rules = [], next, remediation, parts = [] } = explanation;
  const notices = (explanation.notices ?? []).filter((notice) => notice !== summary);
  return [
    el('p', {}, el('strong', {}, state), `: ${summary}`),
    ...listOf('What happened', timeline.map(momentText)),
    ...listOf(
      'Rules',
      rules.map(
        ({ rule, outcome, message, nearest }) =>
          `${rule} ${MARKS[outcome]}${nearest ? ' (nearest)' : ''}: ${message}`,
      ),
    ),
    ...listOf('Before you approve it', notices),
    ...listOf('Next', next === undefined ? [] : [momentText(next)]),
    ...listOf('What you can do', remediation),
    ...parts.flatMap((each) => [el('h3', {}, each.object), ...explanationContent(each)]),
  ];
}

function listOf(title: string, items: readonly string[]): readonly VNode[] {
  if (items.length === 0) return [];
  return [el('h3', {}, title), el('ul', {}, ...items.map((item) => el('li', {}, item)))];
}

function momentText({ at, what }: TimelineEntry): string {
  return at === undefined ? what : `${at} ${what}`;
}
