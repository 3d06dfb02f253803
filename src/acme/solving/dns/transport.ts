// SPDX-License-Identifier: Apache-2.0
/** One message to a DNS server and its answer (RFC 1035 §4.2, RFC 7766). Nothing throws. */
import { createSocket, type Socket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { messageOf } from '#base/errors.ts';
import type { DnsAddress } from './address.ts';
import { answersTo, type NoDnsAnswer } from './message.ts';
import { uint16s } from './update.ts';
import type { ConnectGuard } from '#base/egress/connect-guard.ts';
import * as messages from '../messages.ts';
import { chunksOf } from '#base/chunks.ts';

/** @param signal - ends the wait. The caller chooses the time */
export function sendByUdp(
  { host, port }: DnsAddress,
  query: Buffer,
  signal: AbortSignal,
  guard?: ConnectGuard,
): Promise<Buffer | NoDnsAnswer> {
  const refusal = guard?.refusalOf(host);
  if (refusal !== undefined) return Promise.resolve(none(messages.notCalled(refusal)));
  const socket = isIPv6(host) ? udpSocket('udp6', guard) : udpSocket('udp4', guard);
  return new Promise((resolve) => {
    const end = (result: Buffer | NoDnsAnswer): void => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      // Ignore errors of packets for a closed socket.
      socket.on('error', () => undefined);
      socket.close();
      resolve(result);
    };
    const onAbort = (): void => end(NO_ANSWER);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) {
      onAbort();
      return;
    }
    socket.on('error', (error) => end(failed(error)));
    // A connected socket receives only packets of its peer. One with another id answers another
    // query.
    socket.on('message', (message) => {
      if (answersTo(query, message)) end(message);
    });
    // Node.js passes a lookup error only to this callback, which its types omit.
    socket.connect(port, host, (error?: Error | null) => {
      if (error instanceof Error) end(failed(error));
      else socket.send(query);
    });
  });
}

function udpSocket(type: 'udp4' | 'udp6', guard: ConnectGuard | undefined): Socket {
  if (guard === undefined) return createSocket(type);
  const family = type === 'udp6' ? 6 : 4;
  // Node.js looks up the local address, too, before it binds the socket. A peer with this address
  // is refused before.
  const ownSide = type === 'udp6' ? '::' : '0.0.0.0';
  return createSocket({
    type,
    lookup: (hostname, _options, callback) => {
      if (hostname === ownSide) {
        callback(null, ownSide, family);
        return;
      }
      guard.lookup(hostname, { family }, (error, address) => {
        callback(error, typeof address === 'string' ? address : '', family);
      });
    },
  });
}

/** @param signal - ends the wait. The caller chooses the time */
export async function sendByTcp(
  { host, port }: DnsAddress,
  query: Buffer,
  signal: AbortSignal,
  guard?: ConnectGuard,
): Promise<Buffer | NoDnsAnswer> {
  const refusal = guard?.refusalOf(host);
  if (refusal !== undefined) return none(messages.notCalled(refusal));
  const lookup = guard === undefined ? {} : { lookup: guard.lookup };
  const socket = connect({ host, port, signal, ...lookup });
  try {
    // The socket buffers the data until it is connected.
    socket.write(Buffer.concat([uint16s(query.length), query]));
    let received = Buffer.alloc(0);
    for await (const chunk of chunksOf(socket)) {
      received = Buffer.concat([received, chunk]);
      const length = received.length < 2 ? Infinity : received.readUInt16BE(0) + 2;
      if (received.length < length) continue;
      const message = received.subarray(2, length);
      return answersTo(query, message) ? message : none(messages.OTHER_QUERY);
    }
    return none(messages.CONNECTION_CLOSED);
  } catch (error) {
    return signal.aborted ? NO_ANSWER : failed(error);
  } finally {
    socket.destroy();
  }
}

const NO_ANSWER = none(messages.NO_ANSWER);

function none(problem: string): NoDnsAnswer {
  return { kind: 'none', problem };
}

function failed(error: unknown): NoDnsAnswer {
  return none(messages.unreachable(messageOf(error)));
}
