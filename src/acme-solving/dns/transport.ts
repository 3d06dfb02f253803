// SPDX-License-Identifier: Apache-2.0
/** One message to a DNS server and its answer (RFC 1035 §4.2, RFC 7766). Nothing is thrown. */
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { messageOf } from '../../errors.ts';
import { quote } from '../../quote.ts';
import type { DnsAddress } from './address.ts';
import { answersTo, type NoDnsAnswer } from './message.ts';
import { uint16s } from './update.ts';

/** @param signal - ends the wait; its owner says how long that is */
export function sendByUdp(
  { host, port }: DnsAddress,
  query: Buffer,
  signal: AbortSignal,
): Promise<Buffer | NoDnsAnswer> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
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

/** @param signal - ends the wait; its owner says how long that is */
export async function sendByTcp(
  { host, port }: DnsAddress,
  query: Buffer,
  signal: AbortSignal,
): Promise<Buffer | NoDnsAnswer> {
  const socket = connect({ host, port, signal });
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
  return none(`cannot be reached: ${quote(messageOf(error), 120)}`);
}
