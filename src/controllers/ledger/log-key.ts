// SPDX-License-Identifier: Apache-2.0
/** The keys that sign checkpoints: in one Secret, which the manifests make empty and this component alone fills. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Secret } from '../../api/object/object.ts';
import { attempt, SignerError } from '../../errors.ts';
import { noteSigner, type LedgerKeys } from '../../ledger/index.ts';
import type { Component } from '../../runtime/component/component.ts';
import { SECRETS } from '../../kube/resource/core-v1.ts';

/** The Secret's name, in the namespace of the components. */
export const LOG_KEY_SECRET = 'countersign-ledger-key';

/** The key that signs now, and the one before it, by which former logs are signed to their end. */
const CURRENT = 'log.key';
const PREVIOUS = 'previous.key';

/** The keys of a ledger. */
export interface LogKey {
  readonly keys: LedgerKeys;
  /** Ed25519, 32 bytes: of the key that signs now. */
  readonly publicKey: Uint8Array;
}

/**
 * Reads the keys, and makes the one that signs where there is none: the first one, or the next after an administrator has
 * moved it to {@link PREVIOUS}.
 *
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
  // With the resourceVersion that was read: of two that begin, one makes the key.
  await client.request({ method: 'PUT', path, body: { ...secret, data } });
  return keyOf([privateKey, ...former]);
}

function keyOf(keys: LedgerKeys): LogKey {
  return { keys, publicKey: noteSigner('ledger', keys[0]).publicKey };
}

function keyIn(base64: string): KeyObject {
  const key = attempt(() => parsed(Buffer.from(base64, 'base64').toString('utf8')));
  if (!(key instanceof SignerError) && key.asymmetricKeyType === 'ed25519') return key;
  const message = `Secret ${LOG_KEY_SECRET} holds no Ed25519 key in PKCS#8; restore it from a backup: another key begins another log`;
  throw new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
}

function parsed(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    const message = 'no key';
    throw new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
  }
}
