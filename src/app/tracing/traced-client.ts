// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../../kube/client/client.ts';
import type { Tracing } from '../../runtime/component/tracing.ts';

/** The client whose calls are parts of the reconciliation that makes them. */
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
