// SPDX-License-Identifier: Apache-2.0
/** The client against step-ca, another author's ACME server: an address by HTTP-01. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { after, before, test } from 'node:test';
import { createAccount, findAccount, rollOver, type Account } from '#acme/protocol/accounts.ts';
import { revokeCertificate } from '#acme/protocol/certificates.ts';
import { newOrder } from '#acme/protocol/orders.ts';
import { openServer, type AcmeServer } from '#acme/protocol/server.ts';
import { acceptChain } from '#acme/issuing/accepted-chain.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { prepareStepCa, type StepCa } from '../stepca/server.ts';
import { newKey, problemOf, valueOf } from './calls.ts';
import { obtain } from './order-journey.ts';

const TERMS = { contact: [], termsOfServiceAgreed: true };
const files = new Map<string, string>();

let directory: string;
let step: StepCa;
let web: Server;
let server: AcmeServer;
let account: Account;

before(async () => {
  directory = makeDirectory();
  step = await prepareStepCa(directory);
  await step.start();
  web = createServer((request, response) => {
    const file = files.get(request.url ?? '');
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  web.listen(step.httpPort, '127.0.0.1');
  await once(web, 'listening');
  const { acmeDirectory, root: ca } = step;
  server = openServer({ directory: acmeDirectory, ca, userAgent: 'test', clock: Date.now });
  account = valueOf(await createAccount(server, await newKey(), TERMS));
});
after(async () => {
  await server.close();
  web.close();
  await step.stop();
  removeDirectory(directory);
});

test('an account is found by its key, and an unknown key has none', async () => {
  assert.equal(valueOf(await findAccount(server, account.key)).account, account.account);
  const unknown = problemOf(await findAccount(server, await newKey()));
  assert.equal(unknown.type, 'accountDoesNotExist');
});

test('an address is proved by HTTP-01, and its certificate is what was asked for', async () => {
  const wanted = { identifiers: [{ type: 'ip', value: '127.0.0.1' }] } as const;
  const present = (_name: string, token: string, authorization: string): Promise<void> => {
    files.set(`/.well-known/acme-challenge/${token}`, authorization);
    return Promise.resolve();
  };
  const subscriber = { server, account, directory, present, type: 'http-01' } as const;
  const { chain } = await obtain(subscriber, wanted);
  const [leaf] = chain.certificates;
  const asked = { ...wanted, spki: leaf.publicKey.spki, maxSeconds: 86_400 * 2 };
  assert.ok('pem' in acceptChain(chain, asked, Date.now()));
  valueOf(await revokeCertificate(server, account, leaf.raw, 1));
});

test('a roll-over, which it does not have, is refused, and the account keeps its key', async () => {
  const keys = { old: await newKey(), new: await newKey() };
  const before = valueOf(await createAccount(server, keys.old, TERMS));
  const { status } = problemOf(await rollOver(server, keys));
  assert.equal(status, 501);
  assert.equal(valueOf(await findAccount(server, keys.old)).account, before.account);
});

test('a profile that it does not know does no harm', async () => {
  const identifiers = [{ type: 'dns', value: 'a.example' }] as const;
  valueOf(await newOrder(server, account, { identifiers, profile: 'unknown' }));
});
