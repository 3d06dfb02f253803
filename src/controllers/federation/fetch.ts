// SPDX-License-Identifier: Apache-2.0
import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { answerTo } from '../../egress/answer.ts';
import type { ConnectGuard } from '../../egress/connect-guard.ts';
import { SignerError, attempt, messageOf } from '../../errors.ts';
import { decodeCertificate } from '../../pki/x509/certificate.ts';
import { quote } from '../../quote.ts';
import type { ForeignDomain } from '../../spiffe/foreign-domain.ts';
import { svidFault } from '../../spiffe/svid.ts';

/** The body of an answer, or why there is none. */
export type Fetched = { readonly text: string } | { readonly problem: string };

/** What a call may lead to, and take. */
export interface FetchBounds {
  /** Each address is judged when the connection is made, not when the name was given. */
  readonly guard: ConnectGuard;
  readonly signal: AbortSignal;
  /** The whole call, from the look-up to the last byte. */
  readonly totalMs?: number;
}

/** A bundle of a hundred CAs has some hundred kilobytes; a ClusterTrustBundle holds one MiB of PEM. */
const MOST_BYTES = 1024 * 1024;
const MOST_MS = 30_000;
/** Lines before the body. */
const MOST_HEADER_BYTES = 16 * 1024;

/**
 * Fetches a SPIFFE bundle (SPIFFE Federation §5.2.1.4, §5.2.2.4). Redirects are not followed (§7.5.1), and nothing is
 * unpacked.
 *
 * @param anchors - PEM of the only CAs of the server; undefined for `https_web`: those of the web
 */
export async function fetchBundle(
  domain: ForeignDomain,
  anchors: string | undefined,
  { guard, signal, totalMs = MOST_MS }: FetchBounds,
): Promise<Fetched> {
  // The look-up below judges names only.
  const refusal = guard.refusalOf(new URL(domain.url).hostname);
  if (refusal !== undefined) return { problem: refusal };
  const timeout = AbortSignal.timeout(totalMs);
  const options: RequestOptions = {
    ...identityOf(domain),
    ...(anchors === undefined ? {} : { ca: [anchors] }),
    // Said here, it does not depend on the environment.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    lookup: guard.lookup,
    // A session that is resumed would not have its certificate checked again.
    agent: false,
    headers: { accept: 'application/json', 'accept-encoding': 'identity' },
    maxHeaderSize: MOST_HEADER_BYTES,
    signal: AbortSignal.any([signal, timeout]),
  };
  try {
    return await received(await answerTo(request(domain.url, options)));
  } catch (error) {
    const late = `no complete answer within ${totalMs / 1000} s`;
    return { problem: timeout.aborted ? late : quote(messageOf(error), 300) };
  }
}

/** An X509-SVID proves an ID and no host name. */
function identityOf({ endpointId }: ForeignDomain): RequestOptions {
  if (endpointId === undefined) return {};
  return {
    // A CA of a bundle need not be self-signed (X509-SVID §6.1).
    allowPartialTrustChain: true,
    checkServerIdentity: (_host, { raw }) => identityFault(raw, endpointId),
  };
}

/** After the chain was verified to the anchors. */
function identityFault(raw: Buffer, endpointId: string): Error | undefined {
  const certificate = attempt(() => decodeCertificate(raw));
  if (certificate instanceof SignerError) return certificate;
  const fault = svidFault(certificate);
  if (fault !== undefined)
    return new TypeError(`the server's certificate is no X509-SVID: ${fault}`);
  const [id] = certificate.sans.uris;
  if (id === endpointId) return undefined;
  return new TypeError(`the server is ${quote(id ?? '', 100)}, not ${endpointId}`);
}

async function received(response: IncomingMessage): Promise<Fetched> {
  // A body that we end says so by an event that nobody else listens to.
  response.on('error', () => undefined);
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) {
    response.destroy();
    const isRedirect = statusCode >= 300 && statusCode < 400;
    const advice = isRedirect ? '; redirects are not followed: name the URL itself' : '';
    return { problem: `the endpoint answered ${statusCode}${advice}` };
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    response.destroy();
    return { problem: `the answer is packed (${quote(encoding, 40)}), which nobody asked for` };
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) {
      response.destroy();
      return { problem: `the answer is longer than ${MOST_BYTES} bytes` };
    }
    chunks.push(chunk);
  }
  return textOf(Buffer.concat(chunks, size));
}

/** A bundle is JSON in UTF-8 (§5.2.1.3). */
function textOf(body: Buffer): Fetched {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { problem: 'the answer is no UTF-8' };
  }
}
