// SPDX-License-Identifier: Apache-2.0
/** Signs the heads of logs that have grown, and publishes the checkpoints in a ConfigMap. */
import type { ConfigMap } from '#api/object/object.ts';
import { signedLogList, signHeads, type LedgerStore, type SignedHead } from '../index.ts';
import type { Component } from '#component/contract.ts';
import type { LogKey } from './log-key.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { CHECKPOINTS } from './objects.ts';
import { LEDGER_SERIES } from './metrics.ts';

const MERGE_PATCH = 'application/merge-patch+json';

/** Key of the signed list of all logs. */
const LIST = 'logs';
/**
 * Keys of a log's checkpoints: `log-1` is the last one, and `cosigned-1` the last one with lines of
 * witnesses.
 */
const OF_LOG = /^(?:log|cosigned)-[1-9]\d*$/;

/** Dependencies of checkpoints. */
export interface CheckpointsInit {
  readonly component: Component;
  readonly store: LedgerStore;
  readonly namespace: string;
}

/** Published checkpoints, by their names in the ConfigMap. */
export type PublishedCheckpoints = ReadonlyMap<string, string>;

/**
 * Compares the store with the published checkpoints, so that no older copy of the database is
 * continued.
 * @throws SignerError LEDGER_INCONSISTENT, KubeError
 */
export async function compareWithPublished(init: CheckpointsInit): Promise<PublishedCheckpoints> {
  const { component, store } = init;
  const path = pathOf(init);
  const { data = {} } = await component.client.request<ConfigMap>({ method: 'GET', path });
  const published = new Map(Object.entries(data).filter(([name]) => OF_LOG.test(name)));
  for (const note of published.values()) await store.compareWith(note);
  return published;
}

/**
 * Signs the logs that have grown since the last time. It compares the store with the published
 * checkpoints first, because an older copy may have replaced the database of a running ledger. Such
 * a copy, a backup or a promoted replica without the last records, does not contradict itself.
 * @param published - the published checkpoints that this process knows
 * @returns the last checkpoints that are not published, including those signed earlier
 * @throws SignerError LEDGER_INCONSISTENT; then it signs none
 */
export async function signCheckpoints(
  { store }: Pick<CheckpointsInit, 'store'>,
  { keys }: LogKey,
  published: PublishedCheckpoints,
): Promise<readonly SignedHead[]> {
  for (const note of published.values()) await store.compareWith(note);
  await signHeads(store, keys);
  const unpublished: SignedHead[] = [];
  for (const { number: log } of await store.logs()) {
    const note = await store.checkpoint(log);
    if (note === undefined) continue;
    const size = sizeOf(note);
    if (sizeOf(published.get(nameOf(log)) ?? '') >= size) continue;
    unpublished.push({ log, size, note });
  }
  return unpublished;
}

/**
 * Publishes checkpoints with the list of logs.
 * @param published - the checkpoints that are already published
 * @returns all published checkpoints
 * @throws KubeError
 */
export async function publishCheckpoints(
  init: CheckpointsInit,
  { keys }: LogKey,
  unpublished: readonly SignedHead[],
  published: PublishedCheckpoints,
): Promise<PublishedCheckpoints> {
  if (unpublished.length === 0) return published;
  const { component, store } = init;
  const list = await signedLogList(store, keys);
  const data = Object.fromEntries([
    ...unpublished.map(({ log, note }) => [nameOf(log), note] as const),
    ...(list === undefined ? [] : [[LIST, list] as const]),
  ]);
  await component.client.request({
    method: 'PATCH',
    path: pathOf(init),
    body: { data },
    contentType: MERGE_PATCH,
  });
  const { entries, checkpoint } = component.metrics.of(LEDGER_SERIES);
  for (const { log, size } of unpublished) {
    entries.set({ log: String(log) }, size);
    checkpoint.set({ log: String(log) }, component.clock() / 1000);
  }
  const now = Object.entries(data).filter(([name]) => OF_LOG.test(name));
  return new Map([...published, ...now]);
}

/**
 * Publishes a checkpoint with its lines of witnesses. The log may have grown meanwhile, so the last
 * checkpoint stays beside it.
 * @throws KubeError
 */
export async function publishCosigned(
  init: CheckpointsInit,
  { log, size }: { readonly log: number; readonly size: number },
): Promise<void> {
  const [note] = await init.store.checkpoints(log, size - 1, 1);
  if (note === undefined) return;
  await init.component.client.request({
    method: 'PATCH',
    path: pathOf(init),
    body: { data: { [`cosigned-${log}`]: note } },
    contentType: MERGE_PATCH,
  });
}

function nameOf(log: number): string {
  return `log-${log}`;
}

/** Returns the second line of a checkpoint (C2SP tlog-checkpoint), or NaN for another text. */
function sizeOf(note: string): number {
  return Number(note.split('\n')[1]);
}

function pathOf({ namespace }: CheckpointsInit): string {
  return CONFIG_MAPS.object({ namespace, name: CHECKPOINTS });
}
