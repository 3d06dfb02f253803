// SPDX-License-Identifier: Apache-2.0
import type { ClientRequest, IncomingMessage } from 'node:http';

/**
 * Sends a request and waits for the head of its answer.
 *
 * @returns the answer, whose body is still unread
 * @throws the error of the request, or an Error if the connection closes without an answer
 */
export function answerTo(request: ClientRequest, body?: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve);
  // The first of several errors is reported. Each needs a listener.
  request.on('error', reject);
  // After 101 there is neither an answer nor an error, and no deadline ends a closed connection.
  request.once('close', () => {
    reject(new Error('the connection was closed without an answer'));
  });
  request.end(body);
  return promise;
}
