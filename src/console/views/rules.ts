// SPDX-License-Identifier: Apache-2.0
import type { VNode } from 'preact';
import type { ReplayResult, SampleVerdict } from '../rules-engine.ts';
import { isSameVerdict, type RulesModel, type RulesResults } from '../pages/rules.ts';
import { addressOf, type View } from './address.ts';
import { el, textArea, type Content } from './element.ts';
import { choiceOf, notesOf, tableOf } from './parts.ts';

const WORDS: Readonly<Record<SampleVerdict['word'], string>> = {
  APPROVE: 'approve',
  DENY: 'deny',
  'NO OPINION': 'no opinion',
  UNKNOWN: 'unknown',
};

/** Returns the page Rules. The script judges the text while a person types. */
export function rulesView(view: View, { signers, signer, yaml, results }: RulesModel): VNode {
  const action = addressOf(view, 'rules');
  const choices = signers.map((each) => [each, each] as const);
  return el(
    'div',
    {},
    el(
      'form',
      { method: 'get', action },
      choiceOf(['signer', 'Signer'], choices, signer),
      el('button', {}, 'Show'),
    ),
    el(
      'p',
      {},
      'Change the text, and see how requests would be decided. Nothing is written: to apply the text, copy it into a file, and use ',
      el('code', {}, 'kubectl apply -f FILE'),
      '.',
    ),
    el(
      'div',
      { class: 'beside' },
      el(
        'form',
        { method: 'post', action, id: 'rules', class: 'rules' },
        el('input', { type: 'hidden', name: 'signer', value: signer }),
        el('label', { for: 'yaml' }, 'The signer as YAML'),
        textArea({ id: 'yaml', name: 'yaml', rows: 24, spellcheck: 'false', wrap: 'off' }, yaml),
        el('button', {}, 'Judge the samples'),
        el('button', { name: 'replay', value: 'yes' }, 'Judge the last week, too'),
      ),
      el('div', { id: 'verdicts', 'aria-live': 'polite' }, ...resultParts(results)),
    ),
  );
}

/** Returns the verdicts. The browser renders the same parts. */
export function resultParts({ fault, samples, notes, replay }: RulesResults): readonly Content[] {
  const changed = samples.filter((each) => !isSameVerdict(each)).length;
  const rows = samples.map((each) => [
    each.subject,
    each.namespace,
    each.requester,
    verdict(each.current),
    isSameVerdict(each) ? verdict(each.typed) : el('strong', {}, verdict(each.typed)),
  ]);
  const titles = ['Request', 'Namespace', 'Requester', 'Rules in the cluster', 'Rules in the text'];
  return [
    fault === undefined
      ? el('p', { class: 'verdict' }, `${changed} of ${samples.length} samples decided otherwise`)
      : el('p', { class: 'fault', role: 'alert' }, fault),
    notesOf('Not shown', notes),
    fault === undefined ? tableOf('Newest requests of the cluster', titles, rows) : undefined,
    replay === undefined ? undefined : replayPart(replay),
  ];
}

function verdict({ word, message }: SampleVerdict): Content {
  const kind = { APPROVE: 'issued', DENY: 'denied', 'NO OPINION': 'approval', UNKNOWN: 'old' }[
    word
  ];
  return [
    el('span', { class: `state ${kind}` }, WORDS[word]),
    message === '' ? '' : `: ${message}`,
  ];
}

function replayPart(replay: ReplayResult | string): VNode {
  const title = el('h2', {}, 'The last week');
  if (typeof replay === 'string')
    return el('section', {}, title, el('p', { class: 'lacks' }, replay));
  const { requests, same, different, unknown, cut } = replay;
  const rows = different.map((each) => [
    each.request,
    each.requester,
    each.before,
    each.now,
    each.message,
  ]);
  return el(
    'section',
    {},
    title,
    el(
      'p',
      { class: 'verdict' },
      `${requests} recorded requests: ${same} as before, ${requests - same - unknown} otherwise, ${unknown} cannot be judged`,
    ),
    notesOf('Stopped', cut === undefined ? [] : [cut]),
    tableOf(
      'Requests that the text decides otherwise',
      ['Request', 'Requester', 'Recorded', 'Rules in the text', 'Reason'],
      rows,
    ),
  );
}
