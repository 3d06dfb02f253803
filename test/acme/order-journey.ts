// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { dns01Value, keyAuthorization } from '#acme/protocol/account-key.ts';
import type { Account } from '#acme/protocol/accounts.ts';
import { downloadPreferredChain, type DownloadedChain } from '#acme/protocol/certificates.ts';
import {
  acceptChallenge,
  finalizeOrder,
  getAuthorization,
  getOrder,
  newOrder,
  type AcmeOrder,
  type NewOrder,
} from '#acme/protocol/orders.ts';
import type { AcmeServer } from '#acme/protocol/server.ts';
import { until } from '../cluster/until.ts';
import { valueOf } from './calls.ts';

/** Who plays the subscriber in a test. */
export interface Subscriber {
  readonly server: AcmeServer;
  readonly account: Account;
  /** Where keys and requests are. */
  readonly directory: string;
  /** Presents a challenge; returns the type that it did present. */
  readonly present: (name: string, token: string, authorization: string) => Promise<void>;
  readonly type: 'dns-01' | 'http-01';
}

const WAIT_MS = 20_000;

/** From an order to its certificate, as RFC 8555 §7.4 has it. */
export async function obtain(
  subscriber: Subscriber,
  wanted: NewOrder,
  preferredChain?: string,
): Promise<{
  readonly chain: DownloadedChain;
  readonly order: AcmeOrder;
  readonly keyFile: string;
}> {
  const { server, account } = subscriber;
  const order = valueOf(await newOrder(server, account, wanted));
  for (const url of order.authorizations) await authorize(subscriber, url);
  await untilStatus(subscriber, order.url, 'ready');
  const { der, keyFile } = requestFor(subscriber.directory, wanted);
  valueOf(await finalizeOrder(server, account, order, der));
  const done = await untilStatus(subscriber, order.url, 'valid');
  const chain = valueOf(
    await downloadPreferredChain(server, account, done.certificate ?? '', { preferredChain }),
  );
  return { chain, order: done, keyFile };
}

async function authorize(subscriber: Subscriber, url: string): Promise<void> {
  const { server, account, present, type } = subscriber;
  const found = valueOf(await getAuthorization(server, account, url));
  // Pebble reuses one in a hundred valid authorizations even when told to reuse none.
  if (found.status === 'valid') return;
  const { identifier, challenges } = found;
  const challenge = challenges.find((each) => each.type === type);
  const token = challenge?.token ?? '';
  const authorization = keyAuthorization(token, account.key);
  await present(
    identifier.value,
    token,
    type === 'dns-01' ? dns01Value(authorization) : authorization,
  );
  valueOf(await acceptChallenge(server, account, challenge?.url ?? ''));
  await until('the authorization is valid', WAIT_MS, async () => {
    const { status } = valueOf(await getAuthorization(server, account, url));
    return status === 'valid';
  });
}

function untilStatus(
  { server, account }: Subscriber,
  url: string,
  status: AcmeOrder['status'],
): Promise<AcmeOrder> {
  return until(`the order is ${status}`, WAIT_MS, async () => {
    const found = valueOf(await getOrder(server, account, url));
    return found.status === status && found;
  });
}

let requests = 0;

/** A new key and its request, by OpenSSL. */
export function requestFor(
  directory: string,
  { identifiers }: NewOrder,
): { readonly der: Uint8Array; readonly keyFile: string } {
  requests += 1;
  const keyFile = join(directory, `leaf-${requests}.key`);
  const names = identifiers.map(({ value }) => `${isIP(value) > 0 ? 'IP' : 'DNS'}:${value}`);
  const der = execFileSync(
    'openssl',
    [
      'req',
      '-new',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-noenc',
      '-subj',
      '/',
      '-addext',
      `subjectAltName=${names.join(',')}`,
      '-keyout',
      keyFile,
      '-outform',
      'DER',
    ],
    { stdio: 'pipe' },
  );
  return { der, keyFile };
}
