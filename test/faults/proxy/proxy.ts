// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Pool } from 'undici';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';
import { passCall } from './call.ts';
import { openDoor, type Door, type Identity } from './door.ts';
import { createHolds, type Held } from './holds.ts';
import type { Inside } from './inside.ts';
import { createScript, type Script } from './script.ts';
import { createTally, type Tally } from './tally.ts';
import { createTraffic, type Traffic } from './traffic.ts';
import { passWatch } from './watch.ts';

/**
 * Stands between clients and one API server, speaks TLS and HTTP with both, and does on a script
 * what networks, load balancers and dying servers do. Whoever comes in by a door is known by its
 * name; tokens are passed on.
 */
export interface Proxy {
  /** A door of that name; the same one when it is open already. */
  open(client: string): Promise<Door>;
  readonly script: Script;
  readonly tally: Tally;
  readonly traffic: Traffic;
  /** The next call or line that a `hold` stopped; waits for it. */
  held(): Promise<Held>;
  /** Ends all connections of a door, or of all. */
  cut(client?: string): void;
  /** PEM of the CA that it serves with. */
  readonly ca: string;
  /**
   * Serves with a new certificate of a new CA from the next connection on, and ends those that are.
   */
  changeCertificate(next: Identity): void;
  stop(): Promise<void>;
}

export interface ProxyInit {
  readonly upstream: { readonly server: string; readonly ca: string };
  readonly seed: number;
  /** Kills the client of that door; resolves when it has ended. */
  readonly kill: (client: string) => Promise<void>;
}

export async function startProxy({ upstream, seed, kill }: ProxyInit): Promise<Proxy> {
  const tally = createTally();
  const inside: Inside = {
    upstream: new Pool(upstream.server, {
      connections: null,
      pipelining: 1,
      // One connection a call, as our clients have it: HTTP/2 would put all on one.
      allowH2: false,
      // The client gives up, never the proxy: that would be a fault that no script asked for.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { ca: upstream.ca },
    }),
    script: createScript(seed, tally),
    tally,
    traffic: createTraffic(),
    holds: createHolds(),
    kill,
  };
  let identity: Identity = await newIdentity();
  const doors = new Map<string, Promise<Door>>();
  const opened: Door[] = [];

  async function openNew(client: string): Promise<Door> {
    const door = await openDoor({
      client,
      identity,
      script: inside.script,
      serve: (request, response) => serve(inside, client, request, response),
    });
    opened.push(door);
    return door;
  }

  return {
    script: inside.script,
    tally,
    traffic: inside.traffic,
    held: () => inside.holds.next(),
    open: (client) => {
      const door = doors.get(client) ?? openNew(client);
      doors.set(client, door);
      return door;
    },
    cut: (client) => {
      for (const door of opened) if (client === undefined || door.client === client) door.cut();
    },
    get ca() {
      return identity.cert;
    },
    changeCertificate: (next) => {
      identity = next;
      for (const door of opened) door.serveAs(next);
    },
    stop: async () => {
      inside.script.set('');
      inside.holds.releaseAll();
      await Promise.all(opened.map((door) => door.close()));
      await inside.upstream.destroy();
    },
  };
}

/** A serving certificate that is its own CA. */
export function newIdentity(): Promise<Identity> {
  // Two CAs of one name and other keys would be told apart by their keys only.
  return tlsCertificate(`fault-proxy-${randomBytes(4).toString('hex')}`);
}

async function serve(
  inside: Inside,
  client: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://proxy');
  const watching = ['true', '1'].includes(url.searchParams.get('watch') ?? '');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const call = {
    client,
    method: request.method ?? 'GET',
    path: url.pathname,
    target: request.url ?? '/',
    headers: request.headers,
    body: Buffer.concat(chunks),
    response,
  };
  await (watching ? passWatch(inside, call) : passCall(inside, call));
}
