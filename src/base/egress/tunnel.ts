// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { messageOf } from '../errors.ts';
import { quote } from '../quote.ts';
import type { ConnectGuard } from './connect-guard.ts';
import type { EgressProxy } from './egress-proxy.ts';

/** A server that is called through a proxy. */
export interface TunnelTarget {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Limits of a tunnel. */
export interface TunnelInit {
  readonly proxy: EgressProxy;
  /**
   * Checks the addresses of the target. The proxy then gets one that passed, so that it can resolve
   * the name to no other. Without it the proxy gets the name.
   */
  readonly guard: ConnectGuard | undefined;
  /** Ends the attempt, and closes its connection. */
  readonly signal: AbortSignal;
}

/**
 * Connects to a server through CONNECT (RFC 9110 §9.3.6), and verifies the certificate of the
 * server, not that of the proxy.
 *
 * @throws Error with a `code` of `PROXY_*` or `ADDRESS_REFUSED` if there is no tunnel, or the error
 *   of the TLS connection. None has the credentials of the proxy
 */
export async function connectThroughProxy(
  target: TunnelTarget,
  tls: ConnectionOptions,
  init: TunnelInit,
): Promise<TLSSocket> {
  const tunnel = await openTunnel(target, init);
  const { host } = target;
  const socket = connect({
    ...tls,
    socket: tunnel,
    // Compared with the certificate. SNI is for names alone (RFC 6066 §3).
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  const abort = (): void => void socket.destroy(aborted(init));
  init.signal.addEventListener('abort', abort);
  if (init.signal.aborted) abort();
  try {
    await once(socket, 'secureConnect');
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    init.signal.removeEventListener('abort', abort);
  }
}

async function openTunnel({ host, port }: TunnelTarget, init: TunnelInit): Promise<Socket> {
  const { proxy, guard, signal } = init;
  const address = guard === undefined ? host : await judgedAddress(host, guard, init);
  const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
  const { protocol, hostname, port: proxyPort } = proxy.origin;
  const send = protocol === 'https:' ? requestOverTls : request;
  const call = send({
    method: 'CONNECT',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: proxyPort === '' ? (protocol === 'https:' ? 443 : 80) : Number(proxyPort),
    path: authority,
    headers: {
      host: authority,
      ...(proxy.authorization === undefined ? {} : { 'proxy-authorization': proxy.authorization }),
    },
    agent: false,
    rejectUnauthorized: true,
    signal,
  });
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  call.on('error', (error) => {
    reject(signal.aborted ? aborted(init) : proxyError(init, 'UNREACHABLE', messageOf(error)));
  });
  call.once('close', () => {
    reject(proxyError(init, 'CLOSED', 'it closed the connection without an answer'));
  });
  call.once('connect', ({ statusCode = 0 }: IncomingMessage, socket: Socket) => {
    if (statusCode >= 200 && statusCode < 300) {
      resolve(socket);
      return;
    }
    socket.destroy();
    reject(proxyError(init, 'REFUSED', refusalOf(statusCode, authority)));
  });
  call.end();
  return promise;
}

function refusalOf(status: number, authority: string): string {
  return status === 407
    ? 'it rejects the credentials of HTTPS_PROXY (407)'
    : `it does not connect to ${authority} (${status})`;
}

/** @throws Error ADDRESS_REFUSED, or that of the lookup */
async function judgedAddress(host: string, guard: ConnectGuard, init: TunnelInit): Promise<string> {
  const refusal = guard.refusalOf(host);
  if (refusal !== undefined) throw Object.assign(new Error(refusal), { code: 'ADDRESS_REFUSED' });
  if (isIP(host) !== 0) return host;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  guard.lookup(host, {}, (error, address) => {
    if (error !== null) reject(error);
    else resolve(typeof address === 'string' ? address : (address[0]?.address ?? ''));
  });
  const abort = (): void => {
    reject(aborted(init));
  };
  init.signal.addEventListener('abort', abort, { once: true });
  if (init.signal.aborted) abort();
  return promise;
}

/** Limit on the text of an error of the connection to the proxy. */
const MAX_PROXY_REASON = 200;

function proxyError({ proxy }: TunnelInit, code: string, reason: string): Error {
  const message = `the proxy ${proxy.origin.origin}: ${quote(reason, MAX_PROXY_REASON)}`;
  return Object.assign(new Error(message), { code: `PROXY_${code}` });
}

function aborted(init: TunnelInit): Error {
  return proxyError(init, 'TIMEOUT', 'there is no connection through it in time');
}
