// SPDX-License-Identifier: Apache-2.0
/** The routes of actions. A console that only reads has none of them. */
import type { Express, Request, Response } from 'express';
import type { VNode } from 'preact';
import type { ActionChoice, PlannedAction } from '../acting/action.ts';
import { actionChoiceOf } from '../acting/plan-action.ts';
import type { ShownPlans } from '../acting/shown-plans.ts';
import { planView, resultView } from '../views/act.ts';
import { addressOf, type View } from '../views/address.ts';
import { el } from '../views/element.ts';
import { MAX_FORM_BYTES, readForm } from './form.ts';

/** The actions of a console, with the permissions of its person. */
export interface ConsoleActions {
  /** @throws KubeError of the API server */
  readonly plan: (choice: ActionChoice) => Promise<PlannedAction | undefined>;
  readonly shown: ShownPlans;
}

/** A page below its title. */
export interface ActionPage {
  readonly status: number;
  readonly title: string;
  readonly content: VNode;
}

/** The parts of the server that the routes need. */
export interface ActRoutes {
  readonly base: string;
  readonly actions: ConsoleActions;
  readonly view: () => View;
  /** Reports whether the session is open. Answers the request otherwise. */
  readonly isOpen: (request: Request, response: Response) => boolean;
  readonly queryOf: (request: Request) => URLSearchParams;
  /** Sends a page, or the page of an error. */
  readonly sendPage: (response: Response, page: () => Promise<ActionPage>) => Promise<void>;
}

/** Returns the paths that accept POST. */
export function formPaths(base: string): readonly string[] {
  return [`${base}/act`, `${base}/stop`];
}

/** Adds the pages of plans and results, and the two forms. */
export function addActRoutes(app: Express, routes: ActRoutes): void {
  const { base, actions, view, isOpen, queryOf, sendPage } = routes;
  const { shown } = actions;
  const [act = '', stop = ''] = formPaths(base);
  const redirect = (response: Response, id: string | undefined): void => {
    if (id === undefined) void sendPage(response, () => Promise.resolve(UNKNOWN));
    else response.redirect(303, addressOf(view(), 'result', { of: id }));
  };
  app.get(act, async (request, response) => {
    if (!isOpen(request, response)) return;
    withOrigin(response);
    await sendPage(response, async () => {
      const choice = actionChoiceOf(queryOf(request));
      const action = choice === undefined ? undefined : await actions.plan(choice);
      if (action === undefined) return NO_ACTION;
      const { title } = action.plan;
      return { status: 200, title, content: planView(view(), action.plan, shown.show(action)) };
    });
  });
  app.post(act, async (request, response) => {
    if (!isOpen(request, response)) return;
    const form = await readForm(request, MAX_FORM_BYTES);
    const message = form.get('message')?.trim().slice(0, DECISION_MESSAGE_LENGTH) ?? '';
    redirect(response, await shown.confirm(form.get('token') ?? '', message));
  });
  app.post(stop, async (request, response) => {
    if (!isOpen(request, response)) return;
    const form = await readForm(request, MAX_FORM_BYTES);
    redirect(response, shown.stop(form.get('token') ?? ''));
  });
  app.get(`${base}/result`, async (request, response) => {
    if (!isOpen(request, response)) return;
    withOrigin(response);
    const id = queryOf(request).get('of') ?? '';
    const started = shown.started(id);
    await sendPage(response, () =>
      Promise.resolve(
        started === undefined
          ? NO_RESULT
          : { status: 200, title: started.plan.title, content: resultView(view(), started, id) },
      ),
    );
  });
}

const DECISION_MESSAGE_LENGTH = 500;

/** Under `no-referrer`, browsers send the origin of a form as `null` (Fetch, section 3.2). */
function withOrigin(response: Response): void {
  response.set('referrer-policy', 'same-origin');
}

const NO_ACTION: ActionPage = {
  status: 404,
  title: 'No such action',
  content: el('p', {}, 'This address names no action, or no object for it.'),
};

const UNKNOWN: ActionPage = {
  status: 409,
  title: 'This plan cannot be confirmed',
  content: el(
    'p',
    {},
    'The console showed this plan more than ten minutes ago, has shown many others since, or another session showed it. This confirmation wrote nothing; an earlier one may have. Open the plan again, which shows the state now.',
  ),
};

const NO_RESULT: ActionPage = {
  status: 404,
  title: 'No such result',
  content: el(
    'p',
    {},
    'The console no longer has this result, or another session has it. What the action wrote is in the cluster: open its plan again, which shows the state now.',
  ),
};
