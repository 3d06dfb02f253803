// SPDX-License-Identifier: Apache-2.0
import { createServer } from 'node:http';
import { listening, timeoutsOf } from '#component/web/server.ts';
import { planAction } from './acting/plan-action.ts';
import { ShownPlans } from './acting/shown-plans.ts';
import { createPages, filterOf } from './pages.ts';
import { readOnly } from './page-clients.ts';
import type { ConsoleInit } from './readings.ts';
import type { ConsoleActions } from './server/act.ts';
import { createConsoleRoutes, type ConsoleRoutes } from './server/application.ts';
import { ConsoleSession } from './server/session.ts';
import { streamOverview } from './server/overview-stream.ts';
import { streamRequests } from './server/stream.ts';
import { writeFailureText } from './views/fault.ts';

/** A console that is served. */
export interface RunningConsole {
  /** The address with the one-time secret. */
  readonly address: string;
  /** Resolves once the session has ended, or `signal` was aborted, and the port is closed. */
  readonly ended: Promise<void>;
}

/** The loopback interface: other machines cannot connect. */
const HOST = '127.0.0.1';
const END_CHECK_MS = 1_000;
/** Longest silence of a connection. A stream sends a comment every five seconds. */
const CONNECTION_MS = 60_000;

/**
 * Serves a console on loopback until its session ends.
 *
 * @param port - 0 selects a free one
 * @throws SignerError USAGE if it cannot listen there
 */
export async function startConsole(
  init: ConsoleInit & Pick<ConsoleRoutes, 'assets' | 'isOfOtherUser'>,
  port: number,
  signal: AbortSignal,
): Promise<RunningConsole> {
  const session = new ConsoleSession(init);
  const stop = new AbortController();
  const pages = createPages(
    { ...init, client: readOnly(init.client) },
    session.prefix,
    stop.signal,
  );
  const { live, readings } = pages;
  const { client, clock, monotonic, delay, propagationSeconds } = init;
  const actions: ConsoleActions | undefined = init.canAct
    ? {
        plan: (choice) => planAction({ client, clock, delay, propagationSeconds }, choice),
        shown: new ShownPlans({ ...init, signal: stop.signal, failureText: writeFailureText }),
      }
    : undefined;
  const hasEnded = (): boolean => session.hasEnded;
  let authority = '';
  const routes = createConsoleRoutes({
    session,
    pages,
    actions,
    assets: init.assets,
    isOfOtherUser: init.isOfOtherUser,
    authority: () => authority,
    stream: async (query, write, until) => {
      if (query.get('page') === 'overview') {
        const show = query.get('show') ?? undefined;
        await streamOverview({ readings, hasEnded, delay }, show, write, until);
        return;
      }
      await live.ready();
      const stream = { live, readings, hasEnded, delay, monotonic };
      await streamRequests(stream, filterOf(query), write, until);
    },
  });
  const server = createServer(timeoutsOf(), routes);
  const place = { listen: `${HOST}:${port}`, flag: '--port', requestTimeoutMs: CONNECTION_MS };
  const open = await listening(server, place);
  authority = `${HOST}:${open.port}`;
  const ended = untilEnd(session, signal, delay).then(() => {
    stop.abort();
    return open.close();
  });
  return { address: `http://${authority}/open/${session.secret}`, ended };
}

/** Resolves once the session has ended and its streams have sent that, or `signal` was aborted. */
async function untilEnd(
  session: ConsoleSession,
  signal: AbortSignal,
  delay: ConsoleInit['delay'],
): Promise<void> {
  while (!signal.aborted && !session.hasEnded) {
    await delay(END_CHECK_MS, signal).catch(() => undefined);
  }
  // Streams send that the session has ended before their connections close.
  if (session.hasEnded) await delay(END_CHECK_MS, signal).catch(() => undefined);
}
