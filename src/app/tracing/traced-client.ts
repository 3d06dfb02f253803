// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import type { Tracing } from '#component/tracing.ts';

/** Returns a client that adds a span for each call to the current reconciliation. */
export function traceCalls(client: Client, tracing: Tracing): Client {
  return {
    request: (init) =>
      tracing.part(init.method, { 'http.request.method': init.method, 'url.path': init.path }, () =>
        client.request(init),
      ),
    stream: (init) => client.stream(init),
    clockOffset: () => client.clockOffset(),
    close: () => client.close(),
  };
}
