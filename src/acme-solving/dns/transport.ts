// SPDX-License-Identifier: Apache-2.0
/** One message to a DNS server and its answer (RFC 1035 §4.2, RFC 7766). Nothing is thrown. */
import { createSocket, type Socket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { messageOf } from '../../errors.ts';
import { quote } from '../../quote.ts';
import type { DnsAddress } from './address.ts';
import { answersTo, type NoDnsAnswer } from './message.ts';
import { uint16s } from './update.ts';
import type { ConnectGuard } from '../../egress/connect-guard.ts';

/** @param signal - ends the wait; its owner says how long that is */
export function sendByUdp(
  { host, port }: DnsAddress,
  query: Buffer,
  signal: AbortSignal,
  guard?: ConnectGuard,
): Promise<Buffer | NoDnsAnswer> {
  const refusal = guard?.refusalOf(host);
  if (refusal !== undefined) return Promise.resolve(none(`is not asked: ${refusal}`));
  const socket = isIPv6(host) ? udpSocket('udp6', guard) : udpSocket('udp4', guard);
  return new Promise((resolve) => {
    const end = (result: Buffer | NoDnsAnswer): void => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      // What is still on its way to a closed socket is nobody's error.
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
    // Only its own peer's packets reach a connected socket; of those, one with another id answers another query.
    socket.on('message', (message) => {
      if (answersTo(query, message)) end(message);
    });
    socket.connect(port, host, () => socket.send(query));
  });
}

function udpSocket(type: 'udp4' | 'udp6', guard: ConnectGuard | undefined): Socket {
  if (guard === undefined) return createSocket(type);
  const family = type === 'udp6' ? 6 : 4;
  return createSocket({
    type,
    lookup: (hostname, _options, callback) => {
      guard.lookup(hostname, { family }, (error, address) => {
        callback(error, typeof address === 'string' ? address : '', family);
      });
    },
  });
}

/** @param signal - ends the wait; its owner says how long that is */
export async function sendByTcp(
  { host, port }: DnsAddress,
  query: Buffer,
  signal: AbortSignal,
  guard?: ConnectGuard,
): Promise<Buffer | NoDnsAnswer> {
  const refusal = guard?.refusalOf(host);
  if (refusal !== undefined) return none(`is not asked: ${refusal}`);
  const lookup = guard === undefined ? {} : { lookup: guard.lookup };
  const socket = connect({ host, port, signal, ...lookup });
  try {
    // Before it is connected: the socket keeps it until it is.
    socket.write(Buffer.concat([uint16s(query.length), query]));
    let received = Buffer.alloc(0);
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received = Buffer.concat([received, chunk]);
      const length = received.length < 2 ? Infinity : received.readUInt16BE(0) + 2;
      if (received.length < length) continue;
      const message = received.subarray(2, length);
      return answersTo(query, message)
        ? message
        : none('answers something else than what it is asked');
    }
    return none('closes the connection without an answer');
  } catch (error) {
    return signal.aborted ? NO_ANSWER : failed(error);
  } finally {
    socket.destroy();
  }
}

const NO_ANSWER = none('does not answer');

function none(problem: string): NoDnsAnswer {
  return { kind: 'none', problem };
}

function failed(error: unknown): NoDnsAnswer {
  return none(`cannot be reached: ${quote(messageOf(error), 300)}`);
}
