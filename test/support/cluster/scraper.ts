// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { messageOf } from '#base/errors.ts';
import { until } from '../../cluster/until.ts';

export interface ScraperInit {
  /** PEM, read for each new connection, as Prometheus does. */
  readonly ca: () => string;
  readonly port: () => number;
  /** What the certificate must name. */
  readonly serverName: string;
}

/** Scrapes /metrics over TLS, by a new connection each time and by one that is kept. */
export interface Scraper {
  /** One scrape by a connection of its own. Rejects where that fails. */
  scrape(): Promise<string>;
  /** Scrapes both ways, again and again, until `end`. */
  begin(): void;
  end(): Promise<void>;
  /** Resolves after so many more rounds. */
  more(rounds: number): Promise<void>;
  failures(): readonly string[];
  /** SHA-256 of what the last new connection was shown. */
  shown(): string | undefined;
  keptConnections(): number;
}

const PAUSE_MS = 200;
const MORE_MS = 60_000;

export function createScraper({ ca, port, serverName }: ScraperInit): Scraper {
  const failures: string[] = [];
  const kept = new Set<unknown>();
  let agent: Agent | undefined;
  let shown: string | undefined;
  let rounds = 0;
  let going: Promise<void> | undefined;
  let stop: AbortController | undefined;

  async function ask(by: Agent): Promise<{ readonly body: string; readonly socket: TLSSocket }> {
    const asked = request({
      host: '127.0.0.1',
      port: port(),
      path: '/metrics',
      agent: by,
      servername: serverName,
      // Another CA would be another connection: what is kept is not verified again.
      ...(by === agent ? {} : { ca: ca() }),
    });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const { socket } = response;
    if (!(socket instanceof TLSSocket) || response.statusCode !== 200) {
      throw new Error(`answered with ${response.statusCode ?? 0}`);
    }
    // Before the body is read: afterwards the connection may be gone.
    if (by !== agent) shown = socket.getPeerX509Certificate()?.fingerprint256;
    return { body: await text(response), socket };
  }

  async function scrape(): Promise<string> {
    return (await ask(new Agent())).body;
  }

  async function round(by: Agent): Promise<void> {
    await scrape().catch((error: unknown) => failures.push(`new: ${messageOf(error)}`));
    await ask(by)
      .then(({ socket }) => kept.add(socket))
      .catch((error: unknown) => failures.push(`kept: ${messageOf(error)}`));
    rounds += 1;
  }

  return {
    scrape,
    begin: () => {
      const ending = new AbortController();
      stop = ending;
      const first = new Agent({ keepAlive: true, maxSockets: 1, ca: ca() });
      agent = first;
      going = (async () => {
        while (!ending.signal.aborted) {
          await round(first);
          await sleep(PAUSE_MS);
        }
      })();
    },
    end: async () => {
      stop?.abort();
      await going;
      agent?.destroy();
    },
    more: async (wanted) => {
      const least = rounds + wanted;
      await until(`${wanted} more scrapes`, MORE_MS, () => rounds >= least);
    },
    failures: () => failures,
    shown: () => shown,
    keptConnections: () => kept.size,
  };
}
