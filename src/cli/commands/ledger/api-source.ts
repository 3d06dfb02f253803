// SPDX-License-Identifier: Apache-2.0
/** Source of a ledger verification through the API server. */
import type { CheckpointPage, LogObject } from '#ledger/ledger/api/logs.ts';
import type { RecordList, RecordObject } from '#ledger/ledger/api/object.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import {
  bodyBytes,
  ENTRIES_LEVEL,
  HASH_BYTES,
  hashesServed,
  idOfName,
  inBlocks,
  parseVerifierKey,
  TILE_WIDTH,
  tilePath,
  widthOf,
  type SourceRecord,
  type StoredLog,
  type TileRequest,
  type VerifySource,
} from '#ledger/index.ts';
import { LOGS, pagesOf, readable } from '#cli/sources/ledger-records.ts';

/**
 * Reads everything that exists at the time of the call. Later entries are not included.
 *
 * @throws KubeError, or SignerError LEDGER_UNAVAILABLE if the cluster has no such API
 */
export async function apiSource(client: Client): Promise<VerifySource> {
  // Read checkpoints before sizes, so that no checkpoint is larger than the read log.
  const notes = new Map<number, readonly string[]>();
  for (const { number } of await logsOf(client)) notes.set(number, await notesOf(client, number));
  const logs = await logsOf(client);
  const records = new RecordStream(client);
  return {
    logs: () => Promise.resolve(logs),
    notes: (log) => Promise.resolve(notes.get(log) ?? []),
    tiles: (log) => tilesTogether(client, log),
    // The API derives tiles from the log's size and exposes no rows.
    tileCount: () => Promise.resolve(undefined),
    surplus: () => Promise.resolve(0),
    between: (first, last) => records.between(first, last),
  };
}

/** Reads the tiles of a log as far as its size fills them. */
export function tilesOf(
  client: Client,
  { number, size }: Pick<StoredLog, 'number' | 'size'>,
): ReturnType<VerifySource['tiles']> {
  return (level, index) =>
    tileOf(client, number, { level, index, width: widthOf(size, level, index) });
}

/** Reads tiles in large blocks, for callers that read all of them. */
function tilesTogether(client: Client, log: StoredLog): ReturnType<VerifySource['tiles']> {
  const read = tilesOf(client, log);
  return inBlocks(({ level, first, count }) =>
    Promise.all(Array.from({ length: count }, (_, at) => read(level, first + at))),
  );
}

/**
 * Returns the last checkpoint of a log.
 *
 * @throws KubeError
 */
export async function checkpointOf(client: Client, log: number): Promise<string> {
  const path = LOGS.object({ name: String(log) }, 'checkpoint');
  return (await bytesOf(client, path)).toString('utf8');
}

/**
 * Returns the entry at an index, which commits to a record. It is empty if the log has no such
 * file.
 */
export async function entryAt(
  read: ReturnType<VerifySource['tiles']>,
  index: number,
): Promise<Uint8Array> {
  const hashes = await read(ENTRIES_LEVEL, Math.floor(index / TILE_WIDTH));
  const at = (index % TILE_WIDTH) * HASH_BYTES;
  return hashes?.subarray(at, at + HASH_BYTES) ?? new Uint8Array();
}

async function bytesOf(client: Client, path: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const accept = 'application/octet-stream, application/json';
  for await (const chunk of await client.stream({ method: 'GET', path, accept }))
    chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function logsOf(client: Client): Promise<readonly StoredLog[]> {
  const path = LOGS.collection();
  const { items } = await readable(
    client.request<{ readonly items: readonly LogObject[] }>({ method: 'GET', path }),
  );
  return items.map(({ metadata, origin, verifierKey, size }) => {
    const { publicKey } = parseVerifierKey(verifierKey);
    return { number: Number(metadata.name), origin, publicKey, size, latest: 0 };
  });
}

async function notesOf(client: Client, log: number): Promise<readonly string[]> {
  const path = LOGS.object({ name: String(log) }, 'checkpoints');
  const notes: string[] = [];
  let token: string | undefined;
  do {
    const query = { continue: token };
    const page = await client.request<CheckpointPage>({ method: 'GET', path, query });
    notes.push(...page.notes);
    token = page.continue;
  } while (token !== undefined);
  return notes;
}

async function tileOf(
  client: Client,
  log: number,
  { level, index, width }: TileRequest,
): Promise<Uint8Array | undefined> {
  if (width === 0) return undefined;
  const path = LOGS.object({ name: String(log) }, tilePath(level, index, width));
  try {
    return hashesServed(level, await bytesOf(client, path));
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return undefined;
    throw error;
  }
}

/** Reads all records in order. Callers pass increasing ids. */
class RecordStream {
  readonly #pages: ReturnType<typeof pagesOf>;
  /** The page after the waiting one, which loads while the other is hashed. */
  #next: Promise<IteratorResult<RecordList, unknown>>;
  #waiting: readonly RecordObject[] = [];
  #isAtEnd = false;

  constructor(client: Client) {
    this.#pages = pagesOf(client, { kind: 'any' }, { limit: 0, oldestFirst: true });
    this.#next = this.#asked();
  }

  #asked(): Promise<IteratorResult<RecordList, unknown>> {
    const next = this.#pages.next();
    // The consumer receives the error.
    next.catch(() => undefined);
    return next;
  }

  async between(first: number, last: number): Promise<readonly SourceRecord[]> {
    const found: SourceRecord[] = [];
    for (;;) {
      for (const [at, object] of this.#waiting.entries()) {
        const id = idOfName(object.metadata.name) ?? 0;
        if (id > last) {
          this.#waiting = this.#waiting.slice(at);
          return found;
        }
        if (id >= first) found.push(recordOf(id, object));
      }
      this.#waiting = [];
      if (this.#isAtEnd) return found;
      const page = await this.#next;
      if (page.done === true) this.#isAtEnd = true;
      else {
        this.#next = this.#asked();
        this.#waiting = page.value.items;
      }
    }
  }
}

function recordOf(id: number, { appended, record, salt }: RecordObject): SourceRecord {
  const body = bodyBytes({ appended, record });
  return { id, key: record.key, kind: record.kind, salt: Buffer.from(salt, 'base64'), body };
}
