// SPDX-License-Identifier: Apache-2.0
/** Renews the tokens of members at half of their life, also while no certificate is awaited. */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { HUB_KEYS, hubSecretName } from '#api/signer/upstream-hub.ts';
import { messageOf, SignerError } from '#base/errors.ts';
import type { Delay, Log } from '#base/ports.ts';
import { membersOf } from '#base/record.ts';
import { serverTime } from '#component/server-time.ts';
import type { Client } from '#kube/client/client.ts';
import { SECRETS, SERVICE_ACCOUNTS } from '#kube/resource/core-v1.ts';
import { JSON_PATCH } from '../../apply/secret-patch.ts';
import { isRenewalDue, readToken, type HubCredential } from './credential.ts';
import { credentialOf, problemOf, type HubInit } from './index.ts';
import * as messages from './messages.ts';

export interface TokenInit extends Omit<HubInit, 'random'> {
  readonly delay: Delay;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** The signers that this replica handles. */
  readonly signers: () => readonly ClusterSigner[];
}

/** Interval of the checks: small compared with the life of a token. */
const TOKEN_CHECK_MS = 600_000;

/** A hub that does not answer must not delay the tokens for other hubs for longer. */
const CALL_MS = 10_000;

/** Limit of the answer in bytes. A token has some thousand. */
const MAX_TOKEN_BYTES = 65_536;

/** Checks the tokens of all members until `signal` is aborted. */
export async function renewTokens(init: TokenInit, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const signer of init.signers()) await renewIfDue(init, signer);
    await init.delay(TOKEN_CHECK_MS, signal).catch(() => undefined);
  }
}

/**
 * Renews the token of a signer if it is due. Failures are logged and retried at the next check:
 * half of the life remains.
 */
async function renewIfDue(init: TokenInit, signer: ClusterSigner): Promise<void> {
  if (signer.spec.authority.managed?.upstream?.csr === undefined) return;
  const named = { signer: signer.metadata.name };
  try {
    const credential = await credentialOf(init, signer);
    // The condition reports an unusable credential.
    if (typeof credential === 'string') return;
    if (!isRenewalDue(credential.token, serverTime(init))) return;
    const text = await requestToken(init, credential);
    await store(init, signer, credential, text);
    init.log.info(named, messages.TOKEN_RENEWED);
  } catch (error) {
    init.log.warn({ ...named, error: messageOf(error) }, messages.TOKEN_NOT_RENEWED);
  }
}

/**
 * Requests a token of the same account, valid for as long as the previous one was.
 *
 * @throws SignerError KUBE_BAD_REQUEST (`wait`), whatever the hub answers
 */
async function requestToken(init: TokenInit, credential: HubCredential): Promise<string> {
  const { namespace, account: name, issuedAt, expiresAt } = credential.token;
  const expirationSeconds = Math.floor((expiresAt - issuedAt) / 1000);
  const client: Client = init.connect(credential);
  try {
    const answer = await client.request({
      method: 'POST',
      path: SERVICE_ACCOUNTS.object({ namespace, name }, 'token'),
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds },
      },
      signal: AbortSignal.timeout(CALL_MS),
      maxBytes: MAX_TOKEN_BYTES,
    });
    const { token } = membersOf(membersOf(answer)['status']);
    return typeof token === 'string' ? token : '';
  } catch (error) {
    // The text of the hub may be long, or repeat the token.
    const message = problemOf(error, credential);
    throw new SignerError({ code: 'KUBE_BAD_REQUEST', disposition: 'wait', message });
  } finally {
    await client.close();
  }
}

/** Writes a token of the same account into the Secret, unless it changed meanwhile. */
async function store(
  { client }: TokenInit,
  { spec }: ClusterSigner,
  { token: before, resourceVersion }: HubCredential,
  text: string,
): Promise<void> {
  const token = readToken(text);
  if (typeof token === 'string' || token.account !== before.account) {
    const message = messages.noTokenOf(before.account);
    throw new SignerError({ code: 'KUBE_BAD_REQUEST', disposition: 'wait', message });
  }
  const { namespace = '', name = '' } = spec.authority.managed?.secret ?? {};
  await client.request({
    method: 'PATCH',
    path: SECRETS.object({ namespace, name: hubSecretName(name) }),
    contentType: JSON_PATCH,
    body: [
      { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
      {
        op: 'replace',
        path: `/data/${HUB_KEYS.token}`,
        value: Buffer.from(token.text, 'latin1').toString('base64'),
      },
    ],
  });
}
