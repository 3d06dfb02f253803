// SPDX-License-Identifier: Apache-2.0
/** Parts of pages. */
import type { VNode } from 'preact';
import { present } from '#base/object-keys.ts';
import { spanText } from '#operations/show/table.ts';
import { el, type Content } from './element.ts';
import {
  addressOf,
  type ConsolePath,
  type PageName,
  type PageQuery,
  type View,
} from './address.ts';

/** Returns a time as people read it, with the exact one beside it. */
export function timeOf(at: string, { now }: Pick<View, 'now'>): VNode {
  const distance = Math.round((Date.parse(at) - now) / 1000);
  const span = spanText(distance);
  const text = distance >= 0 ? `in ${span}` : `${span} ago`;
  return el('time', { datetime: at, title: at }, text);
}

/** Returns a link to a page of the console. */
export function linkTo(
  view: View,
  [page, query]: readonly [page: ConsolePath, query: PageQuery],
  ...content: readonly Content[]
): VNode {
  return el('a', { href: addressOf(view, page, query) }, ...content);
}

/** Returns a table with a caption for screen readers, or a sentence if it has no rows. */
export function tableOf(
  caption: string,
  titles: readonly string[],
  rows: readonly (readonly Content[])[],
): VNode {
  if (rows.length === 0) return el('p', { class: 'none' }, 'None.');
  const head = titles.map((title) => el('th', { scope: 'col' }, title));
  const body = rows.map(([first, ...rest]) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, first),
      ...rest.map((cell, index) => el('td', { 'data-title': titles[index + 1] ?? '' }, cell)),
    ),
  );
  return el(
    'div',
    // A wide table scrolls by itself, also by the keyboard.
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    el(
      'table',
      {},
      el('caption', {}, caption),
      el('thead', {}, el('tr', {}, ...head)),
      el('tbody', {}, ...body),
    ),
  );
}

/** Returns the message about a missing permission in a part of a page. */
export function lacksOf(permission: string): VNode {
  return el(
    'p',
    { class: 'lacks' },
    el('strong', {}, 'Not shown: '),
    'you may not ',
    el('code', {}, permission),
    '. Have an administrator grant this permission, or choose another user in your kubeconfig.',
  );
}

/** Returns notes below a heading, or nothing. */
export function notesOf(title: string, notes: readonly string[], id?: string): Content {
  if (notes.length === 0) return undefined;
  return el('p', { class: 'notes', ...present('id', id) }, `${title}: `, notes.join('; '));
}

/** Returns the warning about a search that stopped before the end of the ledger, or nothing. */
export function cutNote(cutAt: number | undefined): Content {
  if (cutAt === undefined) return undefined;
  return el(
    'p',
    { class: 'lacks' },
    el('strong', {}, 'Not complete: '),
    `the search stopped at ${cutAt} records of the ledger, which has more, so the numbers here are too low. Search by signer, namespace, name or serial on the page Issued.`,
  );
}

/** Returns a field of a filter. */
export function fieldOf(name: string, label: string, value: string | undefined): VNode {
  return el(
    'label',
    {},
    `${label} `,
    el('input', { name, value: value ?? '', autocomplete: 'off' }),
  );
}

/** Returns a choice of a filter. */
export function choiceOf(
  [name, label]: readonly [name: string, label: string],
  choices: readonly (readonly [value: string, text: string])[],
  value: string | undefined,
): VNode {
  const options = choices.map(([each, text]) =>
    el('option', { value: each, selected: each === (value ?? '') }, text),
  );
  return el('label', {}, `${label} `, el('select', { name }, ...options));
}

/** Returns links to the neighbours of a page of rows. */
export function pagerOf(
  view: View,
  [page, query]: readonly [PageName, PageQuery],
  { from, size, total }: { readonly from: number; readonly size: number; readonly total: number },
): Content {
  if (total <= size && from === 0) return undefined;
  const link = (text: string, start: number): VNode =>
    linkTo(view, [page, { ...query, from: start }], text);
  return el(
    'nav',
    { 'aria-label': 'pages of rows', class: 'pager' },
    from > 0 ? link('Previous', Math.max(0, from - size)) : undefined,
    el('span', {}, ` ${from + 1} to ${Math.min(from + size, total)} of ${total} `),
    from + size < total ? link('Next', from + size) : undefined,
  );
}
