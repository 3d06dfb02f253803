// SPDX-License-Identifier: Apache-2.0
/** The connection of a component with the ledger: HTTPS, with its own token for the ledger. */
import { Agent, request, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { answerTo } from '#base/egress/answer.ts';
import { messageOf } from '#base/errors.ts';
import { unusable } from './wire.ts';
import { chunksOf } from '#base/chunks.ts';

/** The ledger's address and the component's credentials. */
export interface LedgerAddress {
  /** `https://countersign-ledger.countersign-system.svc:8444`. */
  readonly url: URL;
  /** Returns the token. It is called for each batch, because the kubelet replaces tokens. */
  readonly readToken: () => Promise<string>;
  /** Returns the PEM of the CAs trusted for the ledger's serving certificate. */
  readonly readCa: () => Promise<string>;
  /** Name in the ledger's certificate, if the URL has another one. */
  readonly serverName?: string | undefined;
}

/** One request. Its path includes the query. */
export interface LedgerCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** JSON body of a POST. */
  readonly body?: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** A response of any status. */
export interface LedgerAnswer {
  readonly status: number;
  readonly text: string;
}

/** Calls the ledger over one connection at a time, which stays open. */
export interface LedgerConnection {
  /** @throws SignerError LEDGER_UNAVAILABLE without a response, or if it is too long */
  readonly call: (call: LedgerCall) => Promise<LedgerAnswer>;
  readonly close: () => void;
}

/** Returns a connection that connects on its first call, and again when the CAs change. */
export function createLedgerConnection(address: LedgerAddress): LedgerConnection {
  let known: { readonly ca: string; readonly agent: Agent } | undefined;

  async function agentOf(): Promise<Agent> {
    const ca = await address.readCa();
    if (known?.ca === ca) return known.agent;
    known?.agent.destroy();
    known = { ca, agent: new Agent({ keepAlive: true, ca, minVersion: 'TLSv1.3' }) };
    return known.agent;
  }

  async function answered(call: LedgerCall): Promise<LedgerAnswer> {
    const [agent, token] = await Promise.all([agentOf(), address.readToken()]);
    const { method, path, body, maxBytes, signal } = call;
    const { serverName } = address;
    const options: RequestOptions = {
      method,
      agent,
      signal,
      ...(serverName === undefined ? {} : { servername: serverName }),
      headers: { authorization: `Bearer ${token.trim()}`, ...contentOf(body) },
    };
    const response = await answerTo(request(new URL(path, address.url), options), body);
    return { status: response.statusCode ?? 0, text: await read(response, maxBytes) };
  }

  return {
    call: (call) =>
      answered(call).catch((error: unknown) => {
        throw unusable(messageOf(error), error);
      }),
    close: () => {
      known?.agent.destroy();
    },
  };
}

function contentOf(body: string | undefined): Readonly<Record<string, string | number>> {
  if (body === undefined) return {};
  return { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
}

async function read(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunksOf(response)) {
    length += chunk.length;
    if (length > maxBytes) throw new RangeError('its answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
