// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openServer, type AcmeServer, type AcmeServerInit } from '#acme/protocol/server.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';

/** Answers a call; what it leaves open stays open. */
export type Reply = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/**
 * An ACME server that answers as a test says, by path: `/dir`, `/nonce`, `/account`, `/order`, …
 */
export interface ScriptedServer {
  readonly origin: string;
  /** Paths that were called, in order. */
  readonly calls: string[];
  readonly reply: Record<string, Reply>;
  readonly client: (more?: Partial<AcmeServerInit>) => AcmeServer;
  readonly stop: () => Promise<void>;
}

export const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply =>
  (request, response) => {
    // Only answers to POST come with a nonce (RFC 8555 §6.5 lets others have one).
    const nonce = request.method === 'POST' ? { 'replay-nonce': 'next' } : {};
    response.writeHead(status, { ...nonce, ...headers });
    response.end(JSON.stringify(body));
  };

export async function startScriptedServer(): Promise<ScriptedServer> {
  const tls = await tlsCertificate('scripted', { dnsNames: ['localhost'] });
  const calls: string[] = [];
  const reply: Record<string, Reply> = {};
  const server: Server = createServer(tls, (request, response) => {
    const path = request.url ?? '';
    calls.push(path);
    const parts: Buffer[] = [];
    request.on('data', (chunk: Buffer) => parts.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      (reply[path] ?? json(404, {}))(request, response, body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = (path: string): string => `${origin}/${path}`;
  reply['/dir'] = json(200, {
    newNonce: url('nonce'),
    newAccount: url('account'),
    newOrder: url('order'),
    keyChange: url('key-change'),
    renewalInfo: url('renewal'),
  });
  reply['/nonce'] = (_request, response) => {
    response.writeHead(200, { 'replay-nonce': `fresh-${calls.length}` }).end();
  };
  const account = { status: 'valid', contact: [] };
  reply['/account'] = json(201, account, { location: url('account/1') });
  const clients: AcmeServer[] = [];
  return {
    origin,
    calls,
    reply,
    client: (more = {}) => {
      const init = { directory: url('dir'), ca: tls.cert, userAgent: 'test', clock: Date.now };
      const client = openServer({ ...init, ...more });
      clients.push(client);
      return client;
    },
    stop: async () => {
      await Promise.all(clients.map((client) => client.close()));
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
