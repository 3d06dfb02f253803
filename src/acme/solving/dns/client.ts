// SPDX-License-Identifier: Apache-2.0
import type { Exchange } from '#base/egress/exchange.ts';
import { parseDnsAddress } from './address.ts';
import {
  decodeAnswer,
  encodeQuery,
  isDnsName,
  type DnsAnswer,
  type NoDnsAnswer,
  type Question,
} from './message.ts';
import { sendByTcp, sendByUdp } from './transport.ts';
import type { ConnectGuard } from '#base/egress/connect-guard.ts';
import * as messages from '../messages.ts';

/**
 * Sends one question to one server.
 *
 * @param server - host:port, or the https:// URL of a resolver (RFC 8484)
 */
export type AskDns = (
  server: string,
  question: Question,
  signal: AbortSignal,
) => Promise<DnsAnswer | NoDnsAnswer>;

/**
 * Wait for a UDP answer before TCP is tried: time for the longest distance on Earth, and for
 * losses.
 */
const UDP_MS = 2_500;
const TCP_MS = 5_000;

/**
 * Creates a function that sends one DNS query, by UDP and TCP or over HTTPS.
 *
 * @param http - client for resolvers over HTTPS
 * @param guard - check of the addresses that connections may reach, as for `http`. Default: all are
 *   allowed
 */
export function createDnsClient(http: Exchange, guard?: ConnectGuard): AskDns {
  return async (server, question, signal) => {
    if (!isDnsName(question.name)) return none(messages.notADnsName(question.name));
    const isUrl = server.startsWith('https://');
    const query = encodeQuery(question);
    return isUrl ? askByHttps(http, server, query, signal) : askByDns(server, query, signal, guard);
  };
}

/** Queries by UDP. Uses TCP if the answer is truncated (RFC 7766 §5) or missing. */
async function askByDns(
  server: string,
  query: Buffer,
  signal: AbortSignal,
  guard?: ConnectGuard,
): Promise<DnsAnswer | NoDnsAnswer> {
  const address = parseDnsAddress(server);
  if (address === undefined) return none(messages.NOT_HOST_AND_PORT);
  const within = (milliseconds: number): AbortSignal =>
    AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  const short = read(await sendByUdp(address, query, within(UDP_MS), guard));
  if (short.kind === 'answer' && !short.truncated) return short;
  return read(await sendByTcp(address, query, within(TCP_MS), guard));
}

/** Queries by HTTPS (RFC 8484 §4.1). */
async function askByHttps(
  http: Exchange,
  server: string,
  query: Buffer,
  signal: AbortSignal,
): Promise<DnsAnswer | NoDnsAnswer> {
  // An id of zero lets caches serve the query.
  query.writeUInt16BE(0, 0);
  if (!URL.canParse(server)) return none(messages.NOT_A_URL);
  const url = new URL(server);
  url.searchParams.set('dns', query.toString('base64url'));
  const headers = { accept: 'application/dns-message' };
  const received = await http.send({ method: 'GET', url: url.href, headers, signal });
  if ('kind' in received) return none(received.detail);
  if (received.status !== 200) return none(messages.httpStatus(received.status));
  return decodeAnswer(received.body);
}

function read(received: Buffer | NoDnsAnswer): DnsAnswer | NoDnsAnswer {
  return 'kind' in received ? received : decodeAnswer(received);
}

function none(problem: string): NoDnsAnswer {
  return { kind: 'none', problem };
}
