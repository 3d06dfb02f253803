// SPDX-License-Identifier: Apache-2.0
/**
 * From a request to a certificate that OpenSSL verifies, with every component as its own process
 * and by its own rights: Pebble looks for proofs at acme-responder and at a real BIND, and acme
 * looks for them first. Nobody takes anybody's part.
 */
import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { parseDnsAddress } from '#acme/solving/dns/address.ts';
import { sendByTcp } from '#acme/solving/dns/transport.ts';
import { signMessage } from '#acme/solving/dns/tsig.ts';
import { encodeUpdate } from '#acme/solving/dns/update.ts';
import {
  applyCertificate,
  getSecret,
  requestsOf,
  waitForRevision,
} from '../certmanager/certificates.ts';
import { until } from '../cluster/until.ts';
import { getAcmeSigner, waitForAcmeSigner } from '../support/acme/signer.ts';
import { refusedCalls } from '../support/cluster/audit.ts';
import { waitForCertificate } from '../support/cluster/requests/csr.ts';
import { KEY } from './whole/signers.ts';
import {
  assertVerifies,
  challengeOf,
  noChallengesLeft,
  request,
  SOON,
  startStand,
  type Stand,
} from './whole/stand.ts';

let stand: Stand;
before(async () => {
  stand = await startStand();
});
after(async () => {
  await stand.stop();
});

/** By Pebble's root alone. */
async function verified(chain: string, ...hosts: readonly string[]): Promise<void> {
  assertVerifies(stand, await stand.pebble.manage('/roots/0'), chain, ...hosts);
}

describe('a request gets its certificate', { concurrency: true }, () => {
  test('by HTTP-01: acme-responder serves the file, acme sees it there, and Pebble does', async () => {
    const name = await request(stand, ['www.shop.example']);
    await verified(await waitForCertificate(stand.cluster, name), 'www.shop.example');
    await noChallengesLeft(stand, 'www.shop.example');
  });

  test('DNS-01: a wildcard and its base have two values in BIND, later removed', async () => {
    const name = await request(stand, ['wild.shop.example', '*.wild.shop.example']);
    const chain = await waitForCertificate(stand.cluster, name);
    await verified(chain, 'wild.shop.example', 'any.wild.shop.example');
    await noChallengesLeft(stand, 'wild.shop.example');
    assert.deepEqual(await stand.bind.txt('_acme-challenge.wild.shop.example'), []);
  });

  test('dns-persist-01 waits for the record that the status prints and its owner writes', async () => {
    const record = '_validation-persist.stays.shop.example';
    const name = await request(stand, ['*.stays.shop.example']);
    const waiting = await until('it waits', SOON, async () => {
      const challenge = await challengeOf(stand, 'stays.shop.example');
      return challenge?.status.reason === 'NotPropagated' ? challenge : undefined;
    });
    const { status } = await getAcmeSigner(stand.cluster);
    const [line = '', ...others] = status.persistRecords ?? [];
    assert.deepEqual(others, []);
    assert.ok(waiting.status.message?.endsWith(`Write this record: ${line}`), line);
    const [, value = ''] = line.split('"');
    assert.equal(
      line,
      `${record}. IN TXT "pebble.letsencrypt.org; accounturi=${status.account?.url}; policy=wildcard"`,
    );
    await writeTxt(record, value);
    await verified(await waitForCertificate(stand.cluster, name), 'any.stays.shop.example');
    await noChallengesLeft(stand, 'stays.shop.example');
    assert.deepEqual(await stand.bind.txt(record), [value]);
  });

  test('an address by HTTP-01: for six days, since CAs give addresses no longer ones', async () => {
    const name = await request(stand, ['127.0.0.1']);
    const chain = await waitForCertificate(stand.cluster, name);
    await verified(chain, '127.0.0.1');
    assert.equal(daysOf(chain), 6);
    await noChallengesLeft(stand, '127.0.0.1');
  });

  test('by a profile of the signer, which the CA has', async () => {
    const chain = await waitForCertificate(
      stand.cluster,
      await request(stand, ['www.shop.example'], 'short'),
    );
    await verified(chain, 'www.shop.example');
    assert.equal(daysOf(chain), 6);
  });

  test('an external account’s key opens an account and may then be deleted', async () => {
    const first = await request(stand, ['www.shop.example'], 'bound');
    assertVerifies(
      ...([stand, await stand.bound.manage('/roots/0')] as const),
      ...([await waitForCertificate(stand.cluster, first), 'www.shop.example'] as const),
    );
    const { status } = await getAcmeSigner(stand.cluster, 'bound');
    assert.equal(status.account?.externalAccountBound, true);
    const secret = ['secret', 'bound-external', '-n', 'countersign-keys'];
    await stand.cluster.kubectl(['delete', ...secret]);
    const again = await request(stand, ['www.shop.example'], 'bound');
    await waitForCertificate(stand.cluster, again);
  });

  test('step-ca: proves an address by HTTP-01, and only step-ca’s root verifies the leaf', async () => {
    const name = await request(stand, ['127.0.0.1'], 'internal');
    const chain = await waitForCertificate(stand.cluster, name);
    assertVerifies(stand, stand.step.root, chain, '127.0.0.1');
    await noChallengesLeft(stand, '127.0.0.1');
  });

  test('a cert-manager Certificate gets wildcard and base in its Secret and stays Ready', async () => {
    const dnsNames = ['cm.wild.shop.example', '*.cm.wild.shop.example'];
    const issuerRef = { group: 'acme.countersign.dev', kind: 'AcmeClusterSigner', name: 'public' };
    await applyCertificate(stand.cluster, { name: 'web', spec: { dnsNames, issuerRef } });
    const certificate = await waitForRevision(stand.cluster, 'web', 1);
    assert.equal(certificate.status?.revision, 1);
    const { data = {} } = await getSecret(stand.cluster, 'web');
    const chain = Buffer.from(data['tls.crt'] ?? '', 'base64').toString();
    await verified(chain, 'cm.wild.shop.example', 'any.cm.wild.shop.example');
    const key = createPrivateKey(Buffer.from(data['tls.key'] ?? '', 'base64'));
    assert.ok(new X509Certificate(chain).checkPrivateKey(key));
    assert.equal((await requestsOf(stand.cluster, 'web')).length, 1);
    await noChallengesLeft(stand, 'cm.wild.shop.example');
    assert.deepEqual(await stand.bind.txt('_acme-challenge.cm.wild.shop.example'), []);
  });
});

test('a signer with a profile unknown to its CA is not ready and lists those it has', async () => {
  const { message = '' } = await waitForAcmeSigner(stand.cluster, 'odd', 'False');
  assert.match(message, /no profile "forever".*"default".*"shortlived".*spec\.acme\.profile/);
});

/** Whole days from its first second to its last. */
function daysOf(chain: string): number {
  const { validFromDate, validToDate } = new X509Certificate(chain);
  return Math.round((Number(validToDate) - Number(validFromDate)) / 86_400_000);
}

/** As the owner of the zone does. */
async function writeTxt(name: string, value: string): Promise<void> {
  const update = encodeUpdate({ zone: 'shop.example', name, value, change: 'add' });
  const key = { ...KEY, secret: Buffer.from(KEY.secret, 'base64') };
  const { message } = signMessage(update, key, Math.floor(Date.now() / 1000));
  const address = parseDnsAddress(stand.bind.at);
  assert.ok(address);
  await sendByTcp(address, message, AbortSignal.timeout(SOON));
  assert.deepEqual(await stand.bind.txt(name), [value]);
}

test('no process logged an error, and no log line has a credential', () => {
  for (const { name, log } of stand.components) {
    const errors = log.filter(({ level }) => level === 'error' || level === 50);
    assert.deepEqual(errors, [], name);
    assert.ok(!JSON.stringify(log).includes(KEY.secret), name);
  }
});

test('no component was refused a call', async () => {
  assert.deepEqual(await refusedCalls(stand.cluster), []);
});
