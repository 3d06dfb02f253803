// SPDX-License-Identifier: Apache-2.0
import { addressOf, type PageName, type View } from './address.ts';
import { el, type Content } from './element.ts';
import type { VNode } from 'preact';

const PAGES: readonly (readonly [name: PageName, title: string])[] = [
  ['overview', 'Overview'],
  ['time', 'Time'],
  ['trust', 'Trust'],
  ['requests', 'Requests'],
  ['issued', 'Issued'],
  ['rules', 'Rules'],
  ['restarts', 'Restarts'],
];

const READS = 'This console only reads, with the permissions of your kubeconfig.';
const ACTS =
  'This console can change the cluster, with the permissions of your kubeconfig. It asks before each change.';

/** The frame of a page. */
export interface Frame {
  readonly title: string;
  /** The page in the navigation, if it is one. */
  readonly page?: PageName;
  readonly content: Content;
}

/** Returns a whole document. It works without JavaScript. */
export function documentOf(view: View, { title, page, content }: Frame): VNode {
  const asset = (name: string): string => `/${view.prefix}/assets/${name}`;
  const links = PAGES.map(([name, text]) =>
    el(
      'li',
      {},
      el(
        'a',
        { href: addressOf(view, name), 'aria-current': name === page ? 'page' : undefined },
        text,
      ),
    ),
  );
  return htmlDocument(title, {
    head: [
      el('meta', { name: 'color-scheme', content: 'light dark' }),
      el('link', { rel: 'icon', href: asset('icon.svg') }),
      el('link', { rel: 'stylesheet', href: asset('style.css') }),
      el('script', { type: 'module', src: asset('main.js') }),
    ],
    body: [
      el('a', { class: 'skip', href: '#main' }, 'Skip to the content'),
      el(
        'header',
        {},
        el('span', { class: 'brand' }, 'Countersign'),
        el('nav', { 'aria-label': 'pages' }, el('ul', {}, ...links)),
      ),
      el('main', { id: 'main', tabindex: -1 }, el('h1', {}, title), content),
      el('footer', {}, view.canAct === true ? ACTS : READS),
    ],
  });
}

/** Returns a document without the pages, for a request that has no session. */
export function plainDocument(title: string, sentences: readonly string[]): VNode {
  const paragraphs = sentences.map((each) => el('p', {}, each));
  return htmlDocument(title, {
    head: [],
    body: [el('main', {}, el('h1', {}, title), ...paragraphs)],
  });
}

interface Parts {
  /** Elements of the head, besides those of every document. */
  readonly head: readonly VNode[];
  readonly body: readonly VNode[];
}

function htmlDocument(title: string, { head, body }: Parts): VNode {
  return el(
    'html',
    { lang: 'en' },
    el(
      'head',
      {},
      el('meta', { charset: 'utf-8' }),
      el('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      el('title', {}, `${title} · Countersign`),
      ...head,
    ),
    el('body', {}, ...body),
  );
}
