// SPDX-License-Identifier: Apache-2.0
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { SignerError, messageOf } from '#base/errors.ts';
import { exchange } from '#ca/custody/holder-exchange.ts';
import { PROBE_PATH } from '#ca/key-holder/protocol.ts';

/** The limit of a probe. The kubelet has a longer one. */
const PROBE_MS = 5_000;

/**
 * Tests whether a key holder answers at a socket. Any answer counts.
 *
 * @throws SignerError KEY_HOLDER_UNAVAILABLE (`authority`)
 */
export async function probeHolder(socket: string): Promise<void> {
  const session = connectHttp2('http://key-holder', {
    createConnection: () => connectSocket(socket),
  });
  // The request reports the error of its session.
  session.on('error', () => undefined);
  try {
    const request = { method: 'GET', path: PROBE_PATH } as const;
    await exchange(session, request, AbortSignal.timeout(PROBE_MS));
  } catch (cause) {
    throw new SignerError({
      code: 'KEY_HOLDER_UNAVAILABLE',
      disposition: 'authority',
      message: `the key holder does not answer: ${socket}: ${messageOf(cause)}`,
      cause,
    });
  } finally {
    session.destroy();
  }
}
