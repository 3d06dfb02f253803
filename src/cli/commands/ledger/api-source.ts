// SPDX-License-Identifier: Apache-2.0
/** What a check of a ledger reads, through the API server. */
import type { CheckpointPage, LogObject } from '../../../controllers/ledger/api/logs.ts';
import type { RecordList, RecordObject } from '../../../controllers/ledger/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
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
} from '../../../ledger/index.ts';
import { LOGS, pagesOf, readable } from '../../sources/ledger-records.ts';

/**
 * Reads all that there is when this is called. What is appended meanwhile is no part of it.
 *
 * @throws KubeError; SignerError LEDGER_UNAVAILABLE where the cluster has no such API
 */
export async function apiSource(client: Client): Promise<VerifySource> {
  // Checkpoints before sizes: no checkpoint is of more than is looked at.
  const notes = new Map<number, readonly string[]>();
  for (const { number } of await logsOf(client)) notes.set(number, await notesOf(client, number));
  const logs = await logsOf(client);
  const records = new RecordStream(client);
  return {
    logs: () => Promise.resolve(logs),
    notes: (log) => Promise.resolve(notes.get(log) ?? []),
    tiles: (log) => tilesTogether(client, log),
    // The API shows what the log's size makes, and no rows.
    tileCount: () => Promise.resolve(undefined),
    surplus: () => Promise.resolve(0),
    between: (first, last) => records.between(first, last),
  };
}

/** The tiles of a log as far as its size fills them. */
export function tilesOf(
  client: Client,
  { number, size }: Pick<StoredLog, 'number' | 'size'>,
): ReturnType<VerifySource['tiles']> {
  return (level, index) =>
    tileOf(client, number, { level, index, width: widthOf(size, level, index) });
}

/** The same for who reads all of them, many at a time. */
function tilesTogether(client: Client, log: StoredLog): ReturnType<VerifySource['tiles']> {
  const read = tilesOf(client, log);
  return inBlocks(({ level, first, count }) =>
    Promise.all(Array.from({ length: count }, (_, at) => read(level, first + at))),
  );
}

/** The last checkpoint of a log. @throws KubeError */
export async function checkpointOf(client: Client, log: number): Promise<string> {
  const path = LOGS.object({ name: String(log) }, 'checkpoint');
  return (await bytesOf(client, path)).toString('utf8');
}

/** The entry at an index: what the log has of a record. Empty if it has no such file. */
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

/** All records in order; ids that are asked for never fall. */
class RecordStream {
  readonly #pages: ReturnType<typeof pagesOf>;
  /** The page after the one that waits: it is on its way while that one is hashed. */
  #next: Promise<IteratorResult<RecordList, unknown>>;
  #waiting: readonly RecordObject[] = [];
  #isAtEnd = false;

  constructor(client: Client) {
    this.#pages = pagesOf(client, { kind: 'any' }, { limit: 0, oldestFirst: true });
    this.#next = this.#asked();
  }

  #asked(): Promise<IteratorResult<RecordList, unknown>> {
    const next = this.#pages.next();
    // Whoever takes it hears of it.
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
