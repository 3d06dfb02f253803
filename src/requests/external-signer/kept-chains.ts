// SPDX-License-Identifier: Apache-2.0
/**
 * Results of orders: chains to deliver, and refusals that are not paid again. They are in files of
 * the pod's own directory, and outlive the process.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BoundedMap } from '#base/bounded-map.ts';
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
  /** Keeps a result before it is delivered. Never rejects: a disk that is full loses no answer. */
  readonly keep: (id: string, result: KeptResult) => Promise<void>;
  /** Removes a result. */
  readonly drop: (id: string) => Promise<void>;
  /** Returns the milliseconds for which a result is still kept. */
  readonly leftMs: (id: string) => number;
  /** Removes chains that can no longer be delivered. */
  readonly sweep: () => Promise<void>;
  /** Returns why chains are not on the disk. */
  readonly fault: () => string | undefined;
}

/**
 * The API server accepts a chain of a PodCertificateRequest for five minutes after notBefore. A
 * CertificateSigningRequest is retried within this time as well.
 */
const KEPT_MS = 10 * 60_000;
/** Limit of chains, of about 3 KiB each. Beyond it, the oldest is evicted. */
const MAX_CHAINS = 10_000;
const NAME = /^[0-9a-f]{64}\.json$/;
/** Characters of a file. A chain has at most 100 KiB. */
const MAX_FILE = 200_000;

interface Kept {
  readonly result: KeptResult;
  readonly at: number;
}

/**
 * Reads the chains of earlier processes.
 *
 * @param directory - undefined: chains are in memory only, and a restart loses them
 */
export async function openKeptChains(
  directory: string | undefined,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<KeptChains> {
  const kept = new BoundedMap<string, Kept>(MAX_CHAINS);
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
  const fileOf = (at: string, id: string): string => join(at, `${id}.json`);

  await onDisk(async (at) => {
    await mkdir(at, { recursive: true, mode: 0o700 });
    for (const name of await readdir(at)) {
      const read = NAME.test(name) ? await readKept(join(at, name)) : undefined;
      // Other names are those of files that a crash left incomplete.
      if (read === undefined) await rm(join(at, name), { force: true });
      else kept.set(name.slice(0, 64), read);
    }
  });

  return {
    get: (id) => {
      const found = kept.get(id);
      return found !== undefined && Math.abs(clock() - found.at) < KEPT_MS
        ? found.result
        : undefined;
    },
    keep: async (id, result) => {
      const entry = { result, at: clock() };
      kept.set(id, entry);
      await onDisk(async (at) => {
        // A crash leaves the file whole or absent.
        await writeFile(`${fileOf(at, id)}.new`, JSON.stringify(entry), { mode: 0o600 });
        await rename(`${fileOf(at, id)}.new`, fileOf(at, id));
      });
    },
    drop: async (id) => {
      kept.delete(id);
      await onDisk((at) => rm(fileOf(at, id), { force: true }));
    },
    leftMs: (id) => Math.max(0, (kept.get(id)?.at ?? 0) + KEPT_MS - clock()),
    sweep: async () => {
      for (const [id, { at }] of [...kept.entries()]) {
        if (Math.abs(clock() - at) < KEPT_MS) continue;
        kept.delete(id);
      }
      await onDisk(async (at) => {
        const names = await readdir(at);
        // Evicted chains have a file only.
        const gone = names.filter(
          (name) => NAME.test(name) && kept.get(name.slice(0, 64)) === undefined,
        );
        for (const name of gone) await rm(join(at, name), { force: true });
      });
    },
    fault: () => fault,
  };
}

async function readKept(path: string): Promise<Kept | undefined> {
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
