// SPDX-License-Identifier: Apache-2.0
/** Signs the heads of logs that have grown, and the list of all logs. */
import { sameBytes } from '#base/bytes.ts';
import type { KeyObject } from 'node:crypto';
import { signCheckpoint } from '../log/checkpoint.ts';
import { signLogList, type ListedLog } from '../log/list.ts';
import { noteSigner, type NoteSigner } from '../log/note.ts';
import { verifierOf } from './heads.ts';
import type { LedgerStore } from './store.ts';

/** The ledger's keys: the current one first, then the kept earlier ones. */
export type LedgerKeys = readonly [KeyObject, ...KeyObject[]];

/** A signed and stored checkpoint. */
export interface SignedHead {
  readonly log: number;
  readonly size: number;
  readonly note: string;
}

/**
 * Signs and stores a checkpoint of each log that has grown since its last one. The caller publishes
 * the result. It skips a log whose key is absent. The previous log's key signs too while it is
 * kept, so that verifiers that know only this key accept the checkpoint.
 * @throws SignerError LEDGER_INCONSISTENT if a log does not continue its last checkpoint; then it
 * signs none
 */
export async function signHeads(
  store: LedgerStore,
  keys: LedgerKeys,
): Promise<readonly SignedHead[]> {
  const signed: SignedHead[] = [];
  const logs = await store.logs();
  for (const head of await store.unsignedHeads()) {
    const signer = signerOf(keys, head);
    if (signer === undefined) continue;
    const former = logs[logs.findIndex(({ number }) => number === head.log) - 1];
    const overlap = former === undefined ? undefined : signerOf(keys, former);
    const note = signCheckpoint(head, signer, ...(overlap === undefined ? [] : [overlap]));
    await store.keepCheckpoint(head, note);
    signed.push({ log: head.log, size: head.size, note });
  }
  return signed;
}

/**
 * Returns the list of all logs, signed by the available keys of the two newest logs, or undefined
 * before the first log.
 */
export async function signedLogList(
  store: LedgerStore,
  keys: LedgerKeys,
): Promise<string | undefined> {
  const logs = await store.logs();
  const signers = logs.slice(-2).flatMap((log) => signerOf(keys, log) ?? []);
  if (signers.length === 0) return undefined;
  const listed = logs.map((log, at): ListedLog => {
    const verifier = verifierOf(log);
    return at < logs.length - 1 ? { verifier, frozenAt: log.size } : { verifier };
  });
  return signLogList(listed, signers);
}

function signerOf(
  keys: LedgerKeys,
  log: { readonly origin: string; readonly publicKey: Uint8Array },
): NoteSigner | undefined {
  return keys
    .map((key) => noteSigner(log.origin, key))
    .find(({ publicKey }) => sameBytes(publicKey, log.publicKey));
}
