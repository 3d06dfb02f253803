// SPDX-License-Identifier: Apache-2.0
/** Sends batches to the ledger: HTTPS, with the token of this component. */
import { Agent, request, type RequestOptions } from 'node:https';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { answerTo } from '../../egress/answer.ts';
import { messageOf } from '../../errors.ts';
import { printable } from '../../quote.ts';
import type { LedgerRecord } from '../records/record.ts';
import type { SendBatch } from './contract.ts';
import { APPEND_PATH, MOST_BATCH_BYTES, readAnswer, unusable } from './wire.ts';

/** Where the ledger is, and who asks. */
export interface LedgerAddress {
  /** `https://countersign-ledger.countersign-system.svc:8444`. */
  readonly url: URL;
  /** Asked for each batch: the kubelet replaces them. */
  readonly readToken: () => Promise<string>;
  /** PEM of the CAs that its serving certificate may be of. */
  readonly readCa: () => Promise<string>;
  /** The name in its certificate, where the URL has another one. */
  readonly serverName?: string | undefined;
}

/** A batch that is not answered by then is sent again: one transaction takes milliseconds. */
const TIMEOUT_MILLISECONDS = 15_000;
/** An answer says a sentence about each record at most. */
const MOST_ANSWER_BYTES = 4 * 1024 * 1024;
/** What a batch of one record may have over: brackets. */
const BRACKETS = 2;

/** How batches are sent, and how the connections end. */
export interface HttpsSender {
  readonly send: SendBatch;
  readonly close: () => void;
}

/** Sends over one connection at a time, which stays open. */
export function createHttpsSender(address: LedgerAddress): HttpsSender {
  let known: { readonly ca: string; readonly agent: Agent } | undefined;

  async function agentOf(): Promise<Agent> {
    const ca = await address.readCa();
    if (known?.ca === ca) return known.agent;
    known?.agent.destroy();
    known = { ca, agent: new Agent({ keepAlive: true, ca, minVersion: 'TLSv1.3' }) };
    return known.agent;
  }

  async function post(body: string): Promise<string> {
    const [agent, token] = await Promise.all([agentOf(), address.readToken()]).catch(
      (error: unknown) => {
        throw unusable(messageOf(error), error);
      },
    );
    const { serverName } = address;
    return posted(new URL(APPEND_PATH, address.url), body, {
      method: 'POST',
      agent,
      ...(serverName === undefined ? {} : { servername: serverName }),
      headers: {
        authorization: `Bearer ${token.trim()}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
  }

  return {
    send: async (records) => {
      const results = [];
      for (const part of partsOf(records)) {
        const answer = await post(`[${part.texts.join(',')}]`);
        results.push(...readAnswer(answer, part.records));
      }
      return results;
    },
    close: () => {
      known?.agent.destroy();
    },
  };
}

interface Part {
  readonly records: LedgerRecord[];
  readonly texts: string[];
  bytes: number;
}

/** As few parts as the limit of a batch allows: one, unless the requests are huge. */
function partsOf(records: readonly LedgerRecord[]): readonly Part[] {
  const parts: Part[] = [];
  for (const record of records) {
    const text = JSON.stringify(record);
    const bytes = Buffer.byteLength(text) + 1;
    let part = parts.at(-1);
    if (part === undefined || part.bytes + bytes > MOST_BATCH_BYTES) {
      part = { records: [], texts: [], bytes: BRACKETS };
      parts.push(part);
    }
    part.records.push(record);
    part.texts.push(text);
    part.bytes += bytes;
  }
  return parts;
}

async function posted(url: URL, body: string, options: RequestOptions): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
  const sent = request(url, { ...options, signal });
  const { status, text } = await answered(sent, body).catch((error: unknown) => {
    throw unusable(messageOf(error), error);
  });
  if (status === 200) return text;
  throw unusable(`it answers ${status}: ${printable(text.slice(0, 200))}`);
}

async function answered(
  sent: ClientRequest,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await answerTo(sent, body);
  return { status: response.statusCode ?? 0, text: await read(response) };
}

async function read(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_ANSWER_BYTES) throw new RangeError('its answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
