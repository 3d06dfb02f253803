// SPDX-License-Identifier: Apache-2.0
/**
 * The keys that sign checkpoints, in one Secret. The manifests create it empty, and only this
 * component fills it.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Secret } from '#api/object/object.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { noteSigner, type LedgerKeys } from '../index.ts';
import type { Component } from '#component/contract.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { LOG_KEY_SECRET } from './objects.ts';
import * as messages from './messages.ts';

/** Names of the current key and of the previous one, which signs earlier logs to their end. */
const CURRENT = 'log.key';
const PREVIOUS = 'previous.key';

/** The keys of a ledger. */
export interface LogKey {
  readonly keys: LedgerKeys;
  /** Current Ed25519 key, 32 bytes. */
  readonly publicKey: Uint8Array;
}

/**
 * Reads the keys and creates a missing current one: the first key, or the next after an
 * administrator moved it to {@link PREVIOUS}.
 * @throws KubeError; SignerError LEDGER_MALFORMED if the Secret holds something else
 */
export async function loadLogKey(
  { client }: Pick<Component, 'client'>,
  namespace: string,
): Promise<LogKey> {
  const path = SECRETS.object({ namespace, name: LOG_KEY_SECRET });
  const secret = await client.request<Secret>({ method: 'GET', path });
  const [current = '', previous = ''] = [CURRENT, PREVIOUS].map((name) => secret.data?.[name]);
  const former = previous === '' ? [] : [keyIn(previous)];
  if (current !== '') return keyOf([keyIn(current), ...former]);
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const data = { ...secret.data, [CURRENT]: Buffer.from(pem).toString('base64') };
  // The PUT includes the resourceVersion, so only one of two starting replicas creates the key.
  await client.request({ method: 'PUT', path, body: { ...secret, data } });
  return keyOf([privateKey, ...former]);
}

function keyOf(keys: LedgerKeys): LogKey {
  return { keys, publicKey: noteSigner('ledger', keys[0]).publicKey };
}

function keyIn(base64: string): KeyObject {
  const key = attempt(() => parsed(Buffer.from(base64, 'base64').toString('utf8')));
  if (!(key instanceof SignerError) && key.asymmetricKeyType === 'ed25519') return key;
  const message = messages.INVALID_LOG_KEY;
  throw new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
}

function parsed(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    const message = messages.NO_KEY;
    throw new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
  }
}
