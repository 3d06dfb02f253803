// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';

/** What the proxy does with a call. `lost`: the server gets it, and its answer does not arrive. */
export type ProxyFault =
  '429' | '500' | '404' | 'half' | 'html' | 'endless' | 'silence' | 'reset' | 'lost';

export interface FaultProxy {
  readonly directory: string;
  readonly ca: string;
  readonly faults: readonly ProxyFault[];
  readonly stop: () => Promise<void>;
}

/**
 * Stands before an ACME server, which takes it for itself: URLs in its answers are the proxy's.
 *
 * @param pick - the fault of a call, by its path and the caller's user agent; undefined lets it
 *   pass
 * @param answered - told the status of what the server answered, even where the answer is lost
 */
export async function startFaultProxy(
  server: { readonly directory: string; readonly ca: string },
  pick: (path: string, agent: string) => ProxyFault | undefined,
  answered: (path: string, agent: string, status: number) => void = () => undefined,
): Promise<FaultProxy> {
  const tls = await tlsCertificate('proxy');
  const agent = new Agent({ connect: { ca: server.ca } });
  const { origin, pathname } = new URL(server.directory);
  const faults: ProxyFault[] = [];
  const proxy = createServer(tls, (incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => parts.push(chunk));
    incoming.on('end', () => {
      const fault = pick(incoming.url ?? '', incoming.headers['user-agent'] ?? '');
      if (fault !== undefined) faults.push(fault);
      if (fault !== undefined && fault !== 'lost') {
        answerBy(fault, outgoing);
        return;
      }
      void pass(incoming, Buffer.concat(parts), fault === 'lost', outgoing);
    });
  });

  async function pass(
    { method = 'GET', url = '/', headers }: IncomingMessage,
    body: Buffer,
    isLost: boolean,
    outgoing: ServerResponse,
  ): Promise<void> {
    const { host = '', 'user-agent': agentName = '', 'content-type': contentType } = headers;
    const answer = await request(`${origin}${url}`, {
      dispatcher: agent,
      method: method as 'GET',
      headers: {
        host,
        'user-agent': agentName,
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      },
      body: body.length === 0 ? null : body,
    });
    const text = await answer.body.text();
    answered(url, agentName, answer.statusCode);
    if (isLost) {
      outgoing.destroy();
      return;
    }
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = answer.headers;
    outgoing.writeHead(answer.statusCode, kept).end(text);
  }

  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return {
    directory: `https://127.0.0.1:${port}${pathname}`,
    ca: tls.cert,
    faults,
    stop: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, 'close');
      await agent.destroy();
    },
  };
}

function answerBy(fault: Exclude<ProxyFault, 'lost'>, outgoing: ServerResponse): void {
  switch (fault) {
    case '429': {
      const type = 'urn:ietf:params:acme:error:rateLimited';
      outgoing.writeHead(429, { 'retry-after': '17' }).end(JSON.stringify({ type }));
      return;
    }
    case '500':
      outgoing.writeHead(500).end();
      return;
    case '404':
      outgoing.writeHead(404, { 'content-type': 'application/problem+json' });
      outgoing.end(JSON.stringify({ type: 'urn:ietf:params:acme:error:malformed' }));
      return;
    case 'half':
      outgoing.writeHead(200, { 'content-length': '4096' });
      outgoing.write('{"status":"va', () => void outgoing.destroy());
      return;
    case 'html':
      outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
      return;
    case 'endless':
      pour(outgoing);
      return;
    case 'silence':
      return;
    case 'reset':
      outgoing.destroy();
  }
}

function pour(outgoing: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, ' ');
  let left = 100 * 1024 * 1024;
  const more = (): void => {
    while (left > 0 && !outgoing.destroyed) {
      left -= chunk.length;
      if (!outgoing.write(chunk)) return void outgoing.once('drain', more);
    }
    outgoing.end();
  };
  more();
}
