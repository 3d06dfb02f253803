// SPDX-License-Identifier: Apache-2.0
/** A receiver of events, made of the libraries of CloudEvents and Standard Webhooks. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { text } from 'node:stream/consumers';
import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { freePort } from '../../cluster/ports.ts';

/** What every target of the test shares with notifier. */
export const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** A receiver that verifies what it gets. */
export interface Receiver {
  readonly port: number;
  /** What it took, by the order in which it came. */
  readonly taken: CloudEvent<unknown>[];
  /** Ids of all that came, taken or not. */
  readonly seen: string[];
  /** What it answers; 204: it takes the event. */
  status: number;
  readonly headers: Record<string, string>;
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Listens at a port of its own. @param tls - its certificate and key */
export async function receiver(tls: TlsFiles): Promise<Receiver> {
  const port = await freePort();
  let server: Server | undefined;
  const found: Receiver = {
    port,
    taken: [],
    seen: [],
    status: 204,
    headers: {},
    open: async () => {
      server = createServer(tls, (request, response) => {
        void text(request).then((body) => {
          const headers = { ...request.headers } as Record<string, string>;
          new Webhook(SECRET).verify(body, headers);
          const event = HTTP.toEvent({ headers, body });
          assert.ok(event instanceof CloudEvent && event.validate());
          assert.equal(headers['webhook-id'], event.id);
          found.seen.push(event.id);
          if (found.status === 204) found.taken.push(event);
          response.writeHead(found.status, found.headers).end();
        });
      });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: async () => {
      const closed = server === undefined ? undefined : once(server, 'close');
      server?.close();
      server?.closeAllConnections();
      await closed;
    },
  };
  await found.open();
  return found;
}
