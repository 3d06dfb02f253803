// SPDX-License-Identifier: Apache-2.0
import type { Exchange } from '../../acme/exchange.ts';
import { quote } from '../../quote.ts';
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
import type { ConnectGuard } from '../../egress/connect-guard.ts';

/**
 * Asks one server one question.
 *
 * @param server - host:port, or the https:// URL of a resolver (RFC 8484)
 */
export type AskDns = (
  server: string,
  question: Question,
  signal: AbortSignal,
) => Promise<DnsAnswer | NoDnsAnswer>;

/** Silence before TCP is tried: an answer takes as long as the light to the other side of the world, and loss. */
const UDP_MS = 2_500;
const TCP_MS = 5_000;

/**
 * @param http - for resolvers over HTTPS
 * @param guard - where connections may lead, as that of `http`; absent: everywhere
 */
export function createDnsClient(http: Exchange, guard?: ConnectGuard): AskDns {
  return async (server, question, signal) => {
    if (!isDnsName(question.name)) return none(`is not asked: ${quote(question.name)} is no name`);
    const isUrl = server.startsWith('https://');
    const query = encodeQuery(question);
    return isUrl ? askByHttps(http, server, query, signal) : askByDns(server, query, signal, guard);
  };
}

/** By UDP; by TCP where the answer is too long for it (RFC 7766 §5), or does not arrive. */
async function askByDns(
  server: string,
  query: Buffer,
  signal: AbortSignal,
  guard?: ConnectGuard,
): Promise<DnsAnswer | NoDnsAnswer> {
  const address = parseDnsAddress(server);
  if (address === undefined) return none('is no host:port');
  const within = (milliseconds: number): AbortSignal =>
    AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  const short = read(await sendByUdp(address, query, within(UDP_MS), guard));
  if (short.kind === 'answer' && !short.truncated) return short;
  return read(await sendByTcp(address, query, within(TCP_MS), guard));
}

/** RFC 8484 §4.1. */
async function askByHttps(
  http: Exchange,
  server: string,
  query: Buffer,
  signal: AbortSignal,
): Promise<DnsAnswer | NoDnsAnswer> {
  // An id of zero lets caches serve it.
  query.writeUInt16BE(0, 0);
  if (!URL.canParse(server)) return none('is no URL');
  const url = new URL(server);
  url.searchParams.set('dns', query.toString('base64url'));
  const headers = { accept: 'application/dns-message' };
  const received = await http.send({ method: 'GET', url: url.href, headers, signal });
  if ('kind' in received) return none(received.detail);
  if (received.status !== 200) return none(`answers HTTP status ${received.status}`);
  return decodeAnswer(received.body);
}

function read(received: Buffer | NoDnsAnswer): DnsAnswer | NoDnsAnswer {
  return 'kind' in received ? received : decodeAnswer(received);
}

function none(problem: string): NoDnsAnswer {
  return { kind: 'none', problem };
}
