// SPDX-License-Identifier: Apache-2.0
import { LEDGER_API } from '#api/signer/own-tls.ts';
import { delay } from '#app/process.ts';
import type { Client, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resend } from '#kube/client/resend.ts';
import type { LedgerClient, LedgerEndpoint } from './ledger-client.ts';

/**
 * Sends requests for the ledger through the API server's aggregation layer if it serves that API,
 * and otherwise to the ledger itself. It loads the ledger's client with the first such request. A
 * busy ledger answers 429: the client then waits for its Retry-After, and sends the request again.
 */
export function withLedger(client: Client, place: LedgerEndpoint): Client {
  let ledger: Promise<LedgerClient> | undefined;
  const opened = (): Promise<LedgerClient> =>
    (ledger ??= import('./ledger-client.ts').then((it) => new it.LedgerClient(client, place)));
  async function send<R>(
    init: RequestInit,
    by: (to: Pick<Client, 'request' | 'stream'>) => Promise<R>,
  ): Promise<R> {
    if (!init.path.startsWith(LEDGER_PATH)) return by(client);
    return resend(() => sendToLedger(by), { delay, maxWaitMs: LONGEST_BUSY_MS });
  }
  async function sendToLedger<R>(
    by: (to: Pick<Client, 'request' | 'stream'>) => Promise<R>,
  ): Promise<R> {
    if (place.url === undefined && ledger === undefined) {
      try {
        return await by(client);
      } catch (error) {
        if (!isNotServed(error)) throw error;
      }
    }
    return by(await opened());
  }
  return {
    request: <T>(init: RequestInit) => send(init, (to) => to.request<T>(init)),
    stream: (init) => send(init, (to) => to.stream(init)),
    clockOffset: () => client.clockOffset(),
    close: async () => {
      await (await ledger)?.close();
      await client.close();
    },
  };
}

const LEDGER_PATH = `/apis/${LEDGER_API.group}/`;

/** Longest wait for a busy ledger. */
const LONGEST_BUSY_MS = 30_000;

/** Reports whether the API server does not serve the API, which it reports in two ways. */
function isNotServed(error: unknown): boolean {
  if (!(error instanceof KubeError) || error.status !== 404) return false;
  return /could not find the requested|404 page not found/.test(error.message);
}
