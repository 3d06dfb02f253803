// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type Response,
} from 'express';
import { renderToString } from 'preact-render-to-string';
import type { VNode } from 'preact';
import type { ConsoleAssets } from '../assets.ts';
import type { ConsolePages, PageContent } from '../pages.ts';
import type { PageName, View } from '../views/address.ts';
import { faultOf, faultText, faultView } from '../views/fault.ts';
import { documentOf, plainDocument } from '../views/layout.ts';
import { addActRoutes, formPaths, type ConsoleActions } from './act.ts';
import { cookieNamed, HEADERS, rejectionOf, type Rejection } from './guard.ts';
import type { ClientConnection } from './peer.ts';
import { addRulesRoutes } from './rules.ts';
import type { ConsoleSession } from './session.ts';
import type { WriteChunk } from './stream.ts';

/** The dependencies of the routes. */
export interface ConsoleRoutes {
  readonly session: ConsoleSession;
  /** Returns `127.0.0.1:PORT`. The port is known once the server listens. */
  readonly authority: () => string;
  readonly assets: ConsoleAssets;
  /** Reports whether another user of this machine made a connection. */
  readonly isOfOtherUser: (connection: ClientConnection) => boolean;
  readonly pages: Pick<ConsolePages, 'show' | 'now' | 'rules'>;
  /** Undefined if the console only reads. */
  readonly actions?: ConsoleActions | undefined;
  /** Sends the changes of a page until `signal` is aborted. */
  readonly stream: (
    query: URLSearchParams,
    write: WriteChunk,
    signal: AbortSignal,
  ) => Promise<void>;
}

const COOKIE = 'countersign';
/** Streams of one session: tabs that are open at once. */
const MAX_STREAMS = 8;
const NAMES: readonly PageName[] = [
  'overview',
  'time',
  'trust',
  'requests',
  'issued',
  'rules',
  'restarts',
  'certificate',
];

/** A mark on the color of the pages, which needs no font. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b57b0"/><path d="M4 8.5l2.5 2.5L12 5.5" fill="none" stroke="#fff" stroke-width="2"/></svg>';

/** Creates the routes of a console. Every request passes the guard, and every page the session. */
export function createConsoleRoutes(init: ConsoleRoutes): Express {
  const { session, assets, actions } = init;
  const base = `/${session.prefix}`;
  const rules = `${base}/rules`;
  const forms = actions === undefined ? [rules] : [rules, ...formPaths(base)];
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((request, response, next) => {
    response.set(HEADERS);
    const rejection = init.isOfOtherUser(request.socket)
      ? OTHER_USER
      : rejectionOf(request, { authority: init.authority(), forms });
    if (rejection === undefined) next();
    else send(response, rejection.status, plainDocument('Rejected', [rejection.why]));
  });
  app.get('/open/:secret', (request, response) => {
    open(session, request.params.secret, response);
  });
  for (const [name, type, body] of [
    ['main.js', 'text/javascript', assets.script],
    ['style.css', 'text/css', assets.style],
    ['icon.svg', 'image/svg+xml', ICON],
  ] as const) {
    // Assets hold nothing of a cluster, and the path is random.
    app.get(`${base}/assets/${name}`, (_request, response) => {
      response.set('content-type', `${type}; charset=utf-8`).send(body);
    });
  }
  app.get(base, (_request, response) => {
    response.redirect(303, `${base}/overview`);
  });
  for (const name of NAMES) {
    app.get(`${base}/${name}`, async (request, response) => {
      if (!isOpen(session, request, response, true)) return;
      // Browsers send the origin of its form as `null` under `no-referrer`.
      if (name === 'rules') response.set('referrer-policy', 'same-origin');
      await sendPage(init, name, request, response);
    });
  }
  addRulesRoutes(app, {
    path: rules,
    ...init.pages.rules,
    isOpen: (request, response) => isOpen(session, request, response, true),
    sendPage: async (response, page) => {
      await sendContent(init, 'rules', response, page);
    },
    failureText: faultText,
  });
  app.get(`${base}/stream`, streamRoute(init));
  if (actions !== undefined) {
    addActRoutes(app, {
      base,
      actions,
      view: () => viewOf(init),
      isOpen: (request, response) => isOpen(session, request, response, true),
      queryOf: ({ url }) => queryOfUrl(url),
      sendPage: async (response, page) => {
        await sendContent(init, undefined, response, page);
      },
    });
  }
  app.use((_request, response) => {
    send(response, 404, plainDocument('Not found', [SHARED]));
  });
  app.use(failed);
  return app;
}

const OTHER_USER: Rejection = {
  status: 403,
  why: 'this console belongs to another user of this machine: start one of your own',
};

const SHARED =
  'This console has no such page. If another person shared the address, replace its beginning, up to the long random word, with that of your console.';
const AGAIN = 'Run countersign console again, and open the address that it prints.';

function open(session: ConsoleSession, secret: string, response: Response): void {
  const token = session.open(secret);
  if (token === undefined) {
    const why = 'This address was used already, is older than ten minutes, or is wrong.';
    send(response, 403, plainDocument('This address opens no session', [why, AGAIN]));
    return;
  }
  // Without Secure: the console speaks plain HTTP on loopback, and Safari would drop the cookie.
  const cookie = `${COOKIE}=${token}; Path=/${session.prefix}; HttpOnly; SameSite=Strict`;
  response.set('set-cookie', cookie).redirect(303, `/${session.prefix}/overview`);
}

/** Reports whether the session of a request is open. Answers the request otherwise. */
function isOpen(
  session: ConsoleSession,
  request: Request,
  response: Response,
  isUse: boolean,
): boolean {
  const state = session.judge(cookieNamed(COOKIE, request.headers.cookie), isUse);
  if (state === 'open') return true;
  const title = state === 'ended' ? 'The session has ended' : 'No session';
  send(response, 401, plainDocument(title, [AGAIN]));
  return false;
}

async function sendPage(
  init: ConsoleRoutes,
  name: PageName,
  request: Request,
  response: Response,
): Promise<void> {
  const page = name === 'certificate' ? 'issued' : name;
  await sendContent(init, page, response, () => init.pages.show(name, queryOfUrl(request.url)));
}

/** Sends the content of a page, or its fault. @param page - in the navigation */
async function sendContent(
  init: ConsoleRoutes,
  page: PageName | undefined,
  response: Response,
  read: () => Promise<PageContent>,
): Promise<void> {
  const shown = await read().catch((error: unknown): PageContent => {
    const fault = faultOf(error);
    return { status: fault.status, title: fault.title, content: faultView(fault) };
  });
  const { status, title, content } = shown;
  const frame = page === undefined ? { title, content } : { title, page, content };
  send(response, status, documentOf(viewOf(init), frame));
}

function viewOf({ session, pages, actions }: ConsoleRoutes): View {
  return { prefix: session.prefix, now: pages.now(), canAct: actions !== undefined };
}

function queryOfUrl(url: string): URLSearchParams {
  return new URL(url, 'http://console').searchParams;
}

function streamRoute(init: ConsoleRoutes) {
  let open = 0;
  return async (request: Request, response: Response): Promise<void> => {
    if (!isOpen(init.session, request, response, false)) return;
    if (open >= MAX_STREAMS) {
      send(response, 503, plainDocument('Too many streams', ['Close other tabs of this console.']));
      return;
    }
    open += 1;
    const ended = new AbortController();
    response.once('close', () => {
      ended.abort();
      open -= 1;
    });
    response.set('content-type', 'text/event-stream; charset=utf-8').flushHeaders();
    const write: WriteChunk = async (chunk) => {
      if (!response.write(chunk)) await once(response, 'drain', { signal: ended.signal });
    };
    await init.stream(queryOfUrl(request.url), write, ended.signal).catch(() => undefined);
    response.end();
  };
}

/** Handles errors of the console itself, because express would send the stack trace. */
const failed: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  send(response, 500, plainDocument('Internal error', ['This is a bug. Please report it.']));
};

function send(response: Response, status: number, document: VNode): void {
  response.status(status).set('content-type', 'text/html; charset=utf-8');
  response.send(`<!doctype html>${renderToString(document)}`);
}
