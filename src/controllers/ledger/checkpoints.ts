// SPDX-License-Identifier: Apache-2.0
/** Signs what has grown, and publishes it in a ConfigMap. */
import type { ConfigMap } from '../../api/object/object.ts';
import { signedLogList, signHeads, type LedgerStore, type SignedHead } from '../../ledger/index.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { LogKey } from './log-key.ts';
import { CONFIG_MAPS } from '../../kube/resource/core-v1.ts';

/** The ConfigMap's name, in the namespace of the components; the manifests make it empty. */
export const CHECKPOINTS = 'countersign-ledger-checkpoints';

const MERGE_PATCH = 'application/merge-patch+json';

/** The signed list of all logs. */
const LIST = 'logs';
/** The last checkpoint of a log, `log-1`, and the last one that a witness has signed as well, with its lines: `cosigned-1`. */
const OF_LOG = /^(?:log|cosigned)-[1-9]\d*$/;

/** Where checkpoints come from and go to. */
export interface CheckpointsInit {
  readonly component: Component;
  readonly store: LedgerStore;
  readonly namespace: string;
}

/** Checkpoints that were published, by their names in the ConfigMap. */
export type Published = ReadonlyMap<string, string>;

/**
 * Compares the store with the checkpoints that were published: an older copy of the database must not be continued.
 *
 * @throws SignerError LEDGER_INCONSISTENT, KubeError
 */
export async function compareWithPublished(init: CheckpointsInit): Promise<Published> {
  const { component, store } = init;
  const path = pathOf(init);
  const { data = {} } = await component.client.request<ConfigMap>({ method: 'GET', path });
  const published = new Map(Object.entries(data).filter(([name]) => OF_LOG.test(name)));
  for (const note of published.values()) await store.compareWith(note);
  return published;
}

/**
 * Signs the logs that have grown since the last time. An older copy may have come beneath a ledger that runs: a backup, or
 * a replica that lacked the last records and was promoted. It has its own last checkpoints, and nothing in it contradicts
 * them.
 *
 * @param published - what this process knows of
 * @returns the last checkpoints that are not published, also those that were signed before
 * @throws SignerError LEDGER_INCONSISTENT: then none is signed
 */
export async function signCheckpoints(
  { store }: Pick<CheckpointsInit, 'store'>,
  { keys }: LogKey,
  published: Published,
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
 *
 * @param published - what is published already
 * @returns what is published now
 * @throws KubeError
 */
export async function publishCheckpoints(
  init: CheckpointsInit,
  { keys }: LogKey,
  unpublished: readonly SignedHead[],
  published: Published,
): Promise<Published> {
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
  for (const { log, size } of unpublished) {
    component.metrics.ledgerHead(String(log), size, component.clock() / 1000);
  }
  const now = Object.entries(data).filter(([name]) => OF_LOG.test(name));
  return new Map([...published, ...now]);
}

/**
 * Publishes a checkpoint with the lines of witnesses that it has now. The log may have grown meanwhile: its last checkpoint
 * stays beside it.
 *
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

/** The second line of a checkpoint (C2SP tlog-checkpoint); NaN for something else. */
function sizeOf(note: string): number {
  return Number(note.split('\n')[1]);
}

function pathOf({ namespace }: CheckpointsInit): string {
  return CONFIG_MAPS.object({ namespace, name: CHECKPOINTS });
}
