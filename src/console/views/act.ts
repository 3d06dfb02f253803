// SPDX-License-Identifier: Apache-2.0
/** Actions: their links, the page of the plan, and the page of the result. */
import type { VNode } from 'preact';
import type { ActionPlan, ActionResult, ActionVerb } from '../acting/action.ts';
import type { StartedAction } from '../acting/shown-plans.ts';
import { addressOf, type ConsolePath, type PageQuery, type View } from './address.ts';
import { el, type Content } from './element.ts';
import { linkTo } from './parts.ts';

const LABELS: Readonly<Record<ActionVerb, string>> = {
  approve: 'Approve',
  deny: 'Deny',
  prepare: 'Prepare a successor',
  activate: 'Activate',
  taint: 'Taint',
  revoke: 'Revoke',
  restart: 'Restart pods',
};

/** The parameters of an action's address. */
export type ActionQuery = PageQuery & { readonly verb: ActionVerb };

/** Returns links to the plans of actions, or nothing in a console that only reads. */
export function actionLinks(view: View, actions: readonly ActionQuery[]): Content {
  if (view.canAct !== true || actions.length === 0) return undefined;
  const links = actions.map((query) =>
    el('li', {}, linkTo(view, ['act', query], `${LABELS[query.verb]}…`)),
  );
  return el('ul', { class: 'actions', 'aria-label': 'Actions' }, ...links);
}

/** Returns the page that shows a plan and its form. @param token - confirms the plan */
export function planView(view: View, plan: ActionPlan, token: string): VNode {
  const { verb, command, lines, isReady } = plan;
  return el(
    'div',
    {},
    el('p', {}, 'The command ', el('code', {}, command), ' plans and does the same:'),
    linesPart('Plan', lines),
    isReady
      ? confirmForm(view, verb, token)
      : el(
          'p',
          { class: 'notes' },
          'There is nothing to confirm. The console overrides no refusal: for ',
          el('code', {}, '--force'),
          ', use the command.',
        ),
  );
}

function confirmForm(view: View, verb: ActionVerb, token: string): VNode {
  const isDecision = verb === 'approve' || verb === 'deny';
  const message = el(
    'label',
    {},
    'Message, which the requester can read ',
    el('input', { name: 'message', maxlength: 500, autocomplete: 'off' }),
  );
  return formOf(
    view,
    'act',
    token,
    isDecision ? message : undefined,
    el('button', { class: 'confirm' }, `${LABELS[verb]}: write this now`),
  );
}

function formOf(
  view: View,
  path: ConsolePath,
  token: string,
  ...content: readonly Content[]
): VNode {
  const hidden = el('input', { type: 'hidden', name: 'token', value: token });
  return el('form', { method: 'post', action: addressOf(view, path) }, hidden, ...content);
}

const OUTCOMES: Readonly<Record<ActionResult['outcome'], string>> = {
  done: 'Done.',
  refused: 'Refused: nothing was written.',
  outdated: 'The plan is out of date: nothing was written.',
  failed: 'Failed.',
};

/** Returns the page of the result, or of an action that still runs. @param id - of the result */
export function resultView(view: View, started: StartedAction, id: string): VNode {
  const { result, progress, stopToken } = started;
  return el(
    'div',
    {},
    el(
      'p',
      { class: `verdict ${result?.outcome ?? 'running'}`, role: 'status' },
      result === undefined ? 'Running.' : OUTCOMES[result.outcome],
    ),
    linesPart('Result', result?.lines ?? []),
    linesPart('Progress', progress),
    result === undefined
      ? el(
          'div',
          {},
          linkTo(view, ['result', { of: id }], 'Show the progress until now'),
          formOf(view, 'stop', stopToken, el('button', {}, 'Stop')),
        )
      : linkTo(view, ['overview', {}], 'Overview'),
  );
}

function linesPart(title: string, lines: readonly string[]): Content {
  if (lines.length === 0) return undefined;
  return el(
    'section',
    { class: 'explanation', 'aria-label': title },
    el('h2', {}, title),
    el('ul', { class: 'plan' }, ...lines.map((line) => el('li', {}, line.trim()))),
  );
}
