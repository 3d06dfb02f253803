// SPDX-License-Identifier: Apache-2.0
/**
 * Serves the logs behind the API server: a list, and the same files as on the ledger's own port.
 * Verifiers can use `kubectl proxy` and any reader of C2SP tlog-tiles remotely.
 */
import { LEDGER_API } from '#api/signer/own-tls.ts';
import { formatVerifierKey, type LedgerStore } from '#ledger/index.ts';
import { logFile } from '../files.ts';
import { failure, json, type ApiAnswer } from './answer.ts';
import { API_VERSION } from './discovery.ts';
import * as messages from '../messages.ts';

/** One log of the ledger. */
export interface LogObject {
  readonly apiVersion: string;
  readonly kind: 'Log';
  readonly metadata: { readonly name: string };
  readonly origin: string;
  /** C2SP signed-note verifier key. A verifier should get it from another source. */
  readonly verifierKey: string;
  readonly size: number;
  /** Whether the log is closed to appends. */
  readonly frozen: boolean;
}

/** Checkpoints of a log, the oldest first. `continue` is set if there are more. */
export interface CheckpointPage {
  readonly notes: readonly string[];
  readonly continue?: string;
}

/** Checkpoints of a page, 200 bytes each. */
const NOTES_TOGETHER = 500;

const PREFIX = `/apis/${LEDGER_API.group}/${LEDGER_API.version}/logs`;

/** Returns a response about logs, or undefined for another path. */
export async function logsAnswer(
  store: LedgerStore,
  path: string,
  query: URLSearchParams,
): Promise<ApiAnswer | undefined> {
  if (path === PREFIX) {
    const metadata = {};
    return json(200, {
      apiVersion: API_VERSION,
      kind: 'LogList',
      metadata,
      items: await objectsOf(store),
    });
  }
  const [, name, rest] = /^\/([1-9]\d{0,3})(?:\/(.+))?$/.exec(path.slice(PREFIX.length)) ?? [];
  if (!path.startsWith(`${PREFIX}/`) || name === undefined) return undefined;
  if (rest === undefined) {
    const found = (await objectsOf(store)).find(({ metadata }) => metadata.name === name);
    return found === undefined ? missing(name) : json(200, found);
  }
  if (rest === 'checkpoints') return checkpoints(store, Number(name), query.get('continue') ?? '');
  const bytes = await logFile(store, `/log/${name}/${rest}`);
  return bytes === undefined ? missing(name) : { status: 200, body: bytes };
}

async function objectsOf(store: LedgerStore): Promise<readonly LogObject[]> {
  const logs = await store.logs();
  return logs.map(({ number, origin, publicKey, size }, at) => ({
    apiVersion: API_VERSION,
    kind: 'Log',
    metadata: { name: String(number) },
    origin,
    verifierKey: formatVerifierKey({ name: origin, publicKey }),
    size,
    frozen: at < logs.length - 1,
  }));
}

async function checkpoints(store: LedgerStore, log: number, after: string): Promise<ApiAnswer> {
  if (!/^\d{0,15}$/.test(after)) return failure(400, messages.INVALID_CONTINUE);
  const notes = await store.checkpoints(log, after === '' ? -1 : Number(after), NOTES_TOGETHER);
  const last = notes.at(-1)?.split('\n')[1];
  const more = notes.length === NOTES_TOGETHER && last !== undefined;
  return json(200, { notes, ...(more ? { continue: last } : {}) } satisfies CheckpointPage);
}

function missing(name: string): ApiAnswer {
  return failure(404, messages.logNotFound(name));
}
