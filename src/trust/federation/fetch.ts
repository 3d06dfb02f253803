// SPDX-License-Identifier: Apache-2.0
import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { answerTo } from '#base/egress/answer.ts';
import type { ConnectGuard } from '#base/egress/connect-guard.ts';
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import { connectThroughProxy } from '#base/egress/tunnel.ts';
import { SignerError, attempt, messageOf } from '#base/errors.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { quote } from '#base/quote.ts';
import type { ForeignDomain } from '../spiffe/foreign-domain.ts';
import { svidFault } from '../spiffe/svid.ts';
import * as messages from './messages.ts';
import { chunksOf } from '#base/chunks.ts';

/** The body of an answer, or the reason why it is missing. */
export type FetchResult = { readonly text: string } | { readonly problem: string };

/** Limits of a fetch. */
export interface FetchBounds {
  /** Checks each address when the connection is made, not when the name was configured. */
  readonly guard: ConnectGuard;
  /** Proxy of calls. Default: none. */
  readonly proxy?: EgressProxy | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds for the whole call, from the DNS lookup to the last byte. */
  readonly totalMs?: number;
}

/**
 * A bundle of a hundred CAs takes some hundred kilobytes. A ClusterTrustBundle holds 1 MiB of PEM.
 */
const MAX_BYTES = 1024 * 1024;
const MAX_FETCH_MS = 30_000;
/** Limit of the response headers. */
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Fetches a SPIFFE bundle (SPIFFE Federation §5.2.1.4, §5.2.2.4). Follows no redirect (§7.5.1) and
 * decompresses nothing.
 *
 * @param anchors - PEM of the only CAs to accept, or undefined for the public web CAs (`https_web`)
 */
export async function fetchBundle(
  domain: ForeignDomain,
  anchors: string | undefined,
  { guard, proxy, signal, totalMs = MAX_FETCH_MS }: FetchBounds,
): Promise<FetchResult> {
  // The lookup below checks names only, so check IP addresses here.
  const refusal = guard.refusalOf(new URL(domain.url).hostname);
  if (refusal !== undefined) return { problem: refusal };
  const timeout = AbortSignal.timeout(totalMs);
  const tls = {
    ...identityOf(domain),
    ...(anchors === undefined ? {} : { ca: [anchors] }),
    // Set here, so that the environment cannot disable it.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  } as const;
  const either = AbortSignal.any([signal, timeout]);
  const options = {
    headers: { accept: 'application/json', 'accept-encoding': 'identity' },
    maxHeaderSize: MAX_HEADER_BYTES,
    signal: either,
  };
  try {
    const way = await connectionOf(domain.url, tls, { guard, proxy, signal: either });
    return await received(await answerTo(request(domain.url, { ...options, ...way })));
  } catch (error) {
    const late = messages.answerTimeout(totalMs / 1000);
    return { problem: timeout.aborted ? late : quote(messageOf(error), 300) };
  }
}

/**
 * Returns the options of a connection that the guard checks, or a connection through the proxy.
 *
 * @throws Error of a connection through the proxy
 */
async function connectionOf(
  url: string,
  tls: ConnectionOptions,
  { guard, proxy, signal }: FetchBounds,
): Promise<RequestOptions> {
  const { hostname, port: digits } = new URL(url);
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(digits || 443) };
  if (proxy === undefined || proxy.isBypassed(target.host, target.port)) {
    // A resumed session would skip the certificate check.
    return { ...tls, lookup: guard.lookup, agent: false };
  }
  const socket = await connectThroughProxy(target, tls, { proxy, guard, signal });
  return { createConnection: () => socket };
}

/** Returns the TLS options for `https_spiffe`. An X509-SVID proves an ID, not a host name. */
function identityOf({ endpointId }: ForeignDomain): ConnectionOptions {
  if (endpointId === undefined) return {};
  return {
    // A CA of a bundle need not be self-signed (X509-SVID §6.1).
    allowPartialTrustChain: true,
    checkServerIdentity: (_host, { raw }) => identityFault(raw, endpointId),
  };
}

/** Checks the SPIFFE ID after the chain was verified up to the anchors. */
function identityFault(raw: Buffer, endpointId: string): Error | undefined {
  const certificate = attempt(() => decodeCertificate(raw));
  if (certificate instanceof SignerError) return certificate;
  const fault = svidFault(certificate);
  if (fault !== undefined) return new TypeError(messages.notAnSvid(fault));
  const [id] = certificate.sans.uris;
  if (id === endpointId) return undefined;
  return new TypeError(messages.wrongServer(id, endpointId));
}

async function received(response: IncomingMessage): Promise<FetchResult> {
  // Destroying the response emits an error that has no other listener.
  response.on('error', () => undefined);
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) {
    response.destroy();
    const isRedirect = statusCode >= 300 && statusCode < 400;
    const advice = isRedirect ? messages.REDIRECTS_REFUSED : '';
    return { problem: messages.httpStatus(statusCode, advice) };
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    response.destroy();
    return {
      problem: messages.contentEncoding(encoding),
    };
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(response)) {
    size += chunk.length;
    if (size > MAX_BYTES) {
      response.destroy();
      return { problem: messages.longAnswer(MAX_BYTES) };
    }
    chunks.push(chunk);
  }
  return textOf(Buffer.concat(chunks, size));
}

/** Decodes the body. A bundle is JSON in UTF-8 (§5.2.1.3). */
function textOf(body: Buffer): FetchResult {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { problem: messages.NOT_UTF8 };
  }
}
