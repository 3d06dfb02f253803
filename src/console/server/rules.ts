// SPDX-License-Identifier: Apache-2.0
import type { Express, Request, Response } from 'express';
import type { PageContent } from '../pages.ts';
import type { RulesForm, RulesResults } from '../pages/rules.ts';
import { readForm } from './form.ts';

/** The parts of the server that the route needs. */
export interface RulesRoutes {
  readonly path: string;
  readonly isOpen: (request: Request, response: Response) => boolean;
  readonly judge: (form: RulesForm) => Promise<RulesResults>;
  readonly show: (form: RulesForm) => Promise<PageContent>;
  readonly sendPage: (response: Response, page: () => Promise<PageContent>) => Promise<void>;
  readonly failureText: (error: unknown) => string;
}

/** Largest text of rules. Most signers have less than a tenth of it. */
const MAX_RULES_BYTES = 131_072;

/** Adds the form of the page Rules, which writes nothing. It judges one text at a time. */
export function addRulesRoutes(app: Express, routes: RulesRoutes): void {
  let last: Promise<unknown> = Promise.resolve();
  app.post(routes.path, async (request, response) => {
    if (!routes.isOpen(request, response)) return;
    const form = await readForm(request, MAX_RULES_BYTES);
    const { judge, show, sendPage, failureText } = routes;
    const typed = {
      signer: form.get('signer') ?? undefined,
      yaml: form.get('yaml') ?? '',
      replays: form.get('replay') === 'yes',
    };
    const turn = last;
    const work = async (): Promise<void> => {
      await turn;
      // The person has typed on, or left.
      if (response.destroyed) return;
      if (!request.accepts('html')) {
        const results = await judge(typed).catch((error: unknown): RulesResults => {
          return { fault: failureText(error), samples: [], notes: [] };
        });
        response.set('content-type', 'application/json').send(JSON.stringify(results));
        return;
      }
      response.set('referrer-policy', 'same-origin');
      await sendPage(response, () => show(typed));
    };
    const done = work();
    last = done.catch(() => undefined);
    await done;
  });
}
