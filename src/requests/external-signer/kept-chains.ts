// SPDX-License-Identifier: Apache-2.0
/**
 * Results of orders: chains to deliver, and refusals that are not paid again. They are in files of
 * the pod's own directory, and outlive the process. Their bytes are limited, since the kubelet
 * evicts a pod whose directory exceeds its size limit.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '#base/errors.ts';
import type { Clock, Log } from '#base/ports.ts';
import { membersOf } from '#base/record.ts';
import { parseJson } from '#kube/resource/json.ts';
import * as messages from './messages.ts';

/** Result of an order: a chain that was accepted, or why the answer was refused. */
export type KeptResult = { readonly chain: string } | { readonly refusal: string };

/** Keeps results by the digest of their order. */
export interface KeptChains {
  /** Returns the result of an order that was answered before. */
  readonly get: (id: string) => KeptResult | undefined;
  /**
   * Reserves space for the result of an order, and evicts delivered chains for it, oldest first.
   *
   * @returns false while undelivered results need the space: the order must wait
   */
  readonly reserve: (id: string) => boolean;
  /** Returns the space of an order that has ended. */
  readonly release: (id: string) => void;
  /** Keeps a result before it is delivered. Never rejects: a disk that is full loses no answer. */
  readonly keep: (id: string, result: KeptResult) => Promise<void>;
  /** Reports that a chain is delivered, or that its request needs none any more. */
  readonly settled: (id: string) => Promise<void>;
  /** Removes a result. */
  readonly drop: (id: string) => Promise<void>;
  /** Returns the milliseconds for which a result is still kept. */
  readonly leftMs: (id: string) => number;
  /** Removes chains that can no longer be delivered. */
  readonly sweep: () => Promise<void>;
  /** Returns the bytes of all results and reservations, as they are on the disk. */
  readonly bytes: () => number;
  /** Returns why chains are not on the disk, or why orders wait for space. */
  readonly fault: () => string | undefined;
}

/**
 * The API server accepts a chain of a PodCertificateRequest for five minutes after notBefore. A
 * CertificateSigningRequest is retried within this time as well.
 */
const KEPT_MS = 10 * 60_000;
/** Limit of all files: half of the size limit of the directory (`install/workloads/scratch.ts`). */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
/** A file occupies whole blocks of the file system, which the kubelet counts. */
const BLOCK_BYTES = 4_096;
/** Names of files: delivered chains have their own, so that a new process may evict them. */
const NAME = /^([0-9a-f]{64})(\.delivered)?\.json$/;
/** Characters of a file. A chain has at most 64 KiB, and its text in JSON escapes line ends. */
const MAX_FILE = 200_000;
/** Space for an order whose result is not known yet. */
const RESERVED_BYTES = 49 * BLOCK_BYTES;

interface DatedResult {
  readonly result: KeptResult;
  readonly at: number;
}

interface Entry extends DatedResult {
  readonly bytes: number;
  readonly isDelivered: boolean;
}

/**
 * Opens the results of orders, with those of earlier processes.
 *
 * @param directory - undefined: chains are in memory only, and a restart loses them
 */
export async function openKeptChains(
  directory: string | undefined,
  init: { readonly clock: Clock; readonly log: Log; readonly maxBytes?: number | undefined },
): Promise<KeptChains> {
  const { clock, maxBytes = MAX_KEPT_BYTES } = init;
  const kept = new KeptEntries(maxBytes);
  const files = keptFiles(directory, init.log);
  let isFull = false;

  for (const { id, isDelivered, ...read } of await files.load()) {
    kept.set(id, { ...read, bytes: sizeOf(read), isDelivered });
  }

  const isFresh = ({ at }: DatedResult): boolean => Math.abs(clock() - at) < KEPT_MS;

  return {
    get: (id) => {
      const found = kept.get(id);
      return found !== undefined && isFresh(found) ? found.result : undefined;
    },
    reserve: (id) => {
      isFull = !kept.reserve(id);
      return !isFull;
    },
    release: kept.release,
    keep: async (id, result) => {
      const read = { result, at: clock() };
      kept.set(id, { ...read, bytes: sizeOf(read), isDelivered: false });
      await files.remove(kept.takeEvicted());
      await files.write(id, read);
    },
    settled: async (id) => {
      const found = kept.get(id);
      if (found === undefined || found.isDelivered) return;
      kept.set(id, { ...found, isDelivered: true });
      await files.deliver(id);
    },
    drop: async (id) => {
      kept.delete(id);
      await files.remove([id]);
    },
    leftMs: (id) => Math.max(0, (kept.get(id)?.at ?? 0) + KEPT_MS - clock()),
    sweep: async () => {
      for (const [id, entry] of [...kept.entries()]) if (!isFresh(entry)) kept.delete(id);
      await files.removeOthers((id) => kept.get(id) !== undefined);
    },
    bytes: () => kept.bytes,
    fault: () =>
      files.fault() ?? (isFull && !kept.hasSpace() ? messages.chainsFull(maxBytes) : undefined),
  };
}

/** Results and reservations, whose bytes have a limit. */
class KeptEntries {
  readonly #maxBytes: number;
  readonly #undelivered = new Map<string, Entry>();
  /** The oldest delivery first. */
  readonly #delivered = new Map<string, Entry>();
  readonly #reserved = new Set<string>();
  /** Evicted, and perhaps on the disk still. */
  #evicted: string[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes + this.#reserved.size * RESERVED_BYTES;
  }

  get(id: string): Entry | undefined {
    return this.#undelivered.get(id) ?? this.#delivered.get(id);
  }

  *entries(): Generator<[string, Entry]> {
    yield* this.#undelivered;
    yield* this.#delivered;
  }

  set(id: string, entry: Entry): void {
    this.delete(id);
    this.#bytes += entry.bytes;
    (entry.isDelivered ? this.#delivered : this.#undelivered).set(id, entry);
  }

  delete(id: string): void {
    this.#bytes -= this.get(id)?.bytes ?? 0;
    this.#undelivered.delete(id);
    this.#delivered.delete(id);
  }

  hasSpace(): boolean {
    return this.bytes + RESERVED_BYTES <= this.#maxBytes;
  }

  reserve(id: string): boolean {
    for (const oldest of this.#delivered.keys()) {
      if (this.hasSpace()) break;
      this.delete(oldest);
      this.#evicted.push(oldest);
    }
    if (!this.hasSpace()) return false;
    this.#reserved.add(id);
    return true;
  }

  readonly release = (id: string): void => {
    this.#reserved.delete(id);
  };

  /** Returns the evicted results whose files must be removed, once. */
  takeEvicted(): readonly string[] {
    const evicted = this.#evicted.filter((id) => this.get(id) === undefined);
    this.#evicted = [];
    return evicted;
  }
}

/** The directory of the results. */
interface KeptFiles {
  readonly load: () => Promise<readonly LoadedResult[]>;
  readonly write: (id: string, kept: DatedResult) => Promise<void>;
  readonly deliver: (id: string) => Promise<void>;
  readonly remove: (ids: readonly string[]) => Promise<void>;
  /** Removes the files of all results but these. */
  readonly removeOthers: (isKept: (id: string) => boolean) => Promise<void>;
  readonly fault: () => string | undefined;
}

interface LoadedResult extends DatedResult {
  readonly id: string;
  readonly isDelivered: boolean;
}

function keptFiles(directory: string | undefined, log: Log): KeptFiles {
  let fault: string | undefined;

  const onDisk = async (work: (at: string) => Promise<unknown>): Promise<void> => {
    if (directory === undefined) return;
    try {
      await work(directory);
      fault = undefined;
    } catch (error) {
      fault = messages.chainsNotKept(directory, messageOf(error));
      log.warn({ error: messageOf(error) }, messages.CHAIN_NOT_KEPT);
    }
  };

  return {
    load: async () => {
      const loaded: LoadedResult[] = [];
      await onDisk(async (at) => {
        await mkdir(at, { recursive: true, mode: 0o700 });
        for (const name of await readdir(at)) {
          const [, id, delivered] = NAME.exec(name) ?? [];
          const read = id === undefined ? undefined : await readKept(join(at, name));
          // Other names are those of files that a crash left incomplete.
          if (id === undefined || read === undefined) await rm(join(at, name), { force: true });
          else loaded.push({ id, ...read, isDelivered: delivered !== undefined });
        }
      });
      return loaded.sort((one, other) => one.at - other.at);
    },
    write: (id, kept) =>
      onDisk(async (at) => {
        const path = join(at, fileOf(id));
        // A crash leaves the file whole or absent.
        await writeFile(`${path}.new`, JSON.stringify(kept), { mode: 0o600 });
        await rename(`${path}.new`, path);
        await rm(join(at, deliveredFileOf(id)), { force: true });
      }),
    deliver: (id) =>
      onDisk((at) =>
        rename(join(at, fileOf(id)), join(at, deliveredFileOf(id))).catch((error: unknown) => {
          // The disk took no file of this chain.
          if (membersOf(error)['code'] !== 'ENOENT') throw error;
        }),
      ),
    remove: (ids) =>
      onDisk(async (at) => {
        const names = ids.flatMap((id) => [fileOf(id), deliveredFileOf(id)]);
        for (const name of names) await rm(join(at, name), { force: true });
      }),
    removeOthers: (isKept) =>
      onDisk(async (at) => {
        for (const name of await readdir(at)) {
          const [, id] = NAME.exec(name) ?? [];
          if (id !== undefined && !isKept(id)) await rm(join(at, name), { force: true });
        }
      }),
    fault: () => fault,
  };
}

const fileOf = (id: string): string => `${id}.json`;
const deliveredFileOf = (id: string): string => `${id}.delivered.json`;

/** Returns the bytes of the file of a result. */
function sizeOf(kept: DatedResult): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(kept)) / BLOCK_BYTES) * BLOCK_BYTES;
}

async function readKept(path: string): Promise<DatedResult | undefined> {
  const text = await readFile(path, 'utf8');
  if (text.length > MAX_FILE) return undefined;
  try {
    const { result, at } = membersOf(parseJson(text));
    const { chain, refusal } = membersOf(result);
    if (typeof at !== 'number') return undefined;
    if (typeof chain === 'string') return { result: { chain }, at };
    return typeof refusal === 'string' ? { result: { refusal }, at } : undefined;
  } catch {
    return undefined;
  }
}
