// SPDX-License-Identifier: Apache-2.0
/** Orders from nothing to their certificates with Pebble, behind a proxy that fails in each way. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openAccount, problemOfSettings } from '#acme/issuing/index.ts';
import type { OrderRequest } from '#acme/issuing/order-calls.ts';
import type { AcmeSession } from '#acme/issuing/session.ts';
import { openServer } from '#acme/protocol/server.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { until } from '../cluster/until.ts';
import { newKey, valueOf } from './calls.ts';
import { startFaultProxy, type ProxyFault } from './fault-proxy.ts';
import { LivedOrder, TxtRecords } from './lived-order.ts';
import { requestFor } from './order-journey.ts';
import { startPebble, type Pebble } from './pebble.ts';

const SETTINGS = { contact: [], termsOfServiceAgreed: true };
const MAX_SECONDS = 200 * 86_400;
/** Silence ends a call soon: the proxy is silent often. */
const LIMITS = { silenceMs: 200, totalMs: 2000 };

let directory: string;
let pebble: Pebble;
before(async () => {
  directory = makeDirectory();
  const settings = { blocked: ['blocked.example'], retryAfter: 1 };
  pebble = await startPebble(directory, { settings });
});
after(async () => {
  await pebble.stop();
  removeDirectory(directory);
});

async function openSession(
  at: { readonly directory: string; readonly ca: string },
  onCall: (endpoint: string, outcome: string) => void = () => undefined,
): Promise<AcmeSession> {
  const init = { userAgent: 'countersign-test', clock: Date.now, limits: LIMITS, onCall };
  const server = openServer({ ...init, ...at });
  const key = await newKey();
  const account = await until('the account is there', 60_000, async () => {
    const answer = await openAccount(server, { key }, SETTINGS);
    return answer.kind === 'ok' && answer.value.account;
  });
  return { server, account };
}

function wanted(names: readonly string[]): OrderRequest {
  const identifiers = names.map((value) => ({ type: 'dns', value }) as const);
  const csr = requestFor(directory, { identifiers }).der;
  const { spki } = decodeRequest(csr).publicKey;
  return { identifiers, csr, spki, maxSeconds: MAX_SECONDS };
}

test('a wildcard Order makes each changing call once and leaves no DNS record', async () => {
  const calls: string[] = [];
  const session = await openSession(pebble, (endpoint, outcome) => {
    if (outcome !== '400') calls.push(endpoint);
  });
  calls.length = 0;
  const records = new TxtRecords(pebble);
  const order = new LivedOrder(
    session,
    wanted(['calm.example', '*.calm.example', 'b.example']),
    records,
    'u',
  );
  await order.run();
  assert.equal(order.status.state, 'valid', JSON.stringify(order.status));
  const { subjectAltName = '' } = new X509Certificate(order.status.certificate ?? '');
  const names = subjectAltName.split(', ').sort();
  assert.deepEqual(names, ['DNS:*.calm.example', 'DNS:b.example', 'DNS:calm.example']);
  assert.deepEqual(records.left, []);
  const count = (endpoint: string): number => calls.filter((each) => each === endpoint).length;
  const once = ['newOrder', 'finalize', 'certificate'].map(count);
  assert.deepEqual([once, count('challenge')], [[1, 1, 1], 3]);
  await session.server.close();
});

test('a hundred names are one Order', async () => {
  const session = await openSession(pebble);
  const names = Array.from({ length: 100 }, (_, index) => `n${index}.hundred.example`);
  const order = new LivedOrder(session, wanted(names), new TxtRecords(pebble), 'u');
  await order.run();
  assert.equal(order.status.state, 'valid', JSON.stringify(order.status));
  await session.server.close();
});

test('a name that the CA refuses ends the Order as failed, and says why', async () => {
  const session = await openSession(pebble);
  const order = new LivedOrder(
    session,
    wanted(['www.blocked.example']),
    new TxtRecords(pebble),
    'u',
  );
  await order.run();
  assert.equal(order.status.state, 'failed');
  assert.equal(order.status.reason, 'RejectedIdentifier');
  assert.match(order.status.message ?? '', /blocked/);
  await session.server.close();
});

test('a certificate of a longer life than the signer allows is not delivered', async () => {
  const session = await openSession(pebble);
  const request = { ...wanted(['long.example']), maxSeconds: 86_400 };
  const order = new LivedOrder(session, request, new TxtRecords(pebble), 'u');
  await order.run();
  assert.equal(order.status.state, 'invalid');
  assert.match(order.status.message ?? '', /maxDuration allows 24/);
  assert.equal(order.status.certificate, undefined);
  await session.server.close();
});

test('settings that the directory contradicts are known before anything is asked', async () => {
  const session = await openSession(pebble);
  const { meta } = valueOf(await session.server.directory());
  const reason = (more: object): string | undefined =>
    problemOfSettings(meta, { ...SETTINGS, ...more })?.reason;
  assert.equal(reason({}), undefined);
  assert.equal(reason({ profile: 'shortlived' }), undefined);
  assert.equal(reason({ profile: 'no-such' }), 'ProfileUnknown');
  assert.equal(reason({ termsOfServiceAgreed: false }), 'TermsNotAgreed');
  const forCustomers = { ...meta, externalAccountRequired: true };
  assert.equal(problemOfSettings(forCustomers, SETTINGS)?.reason, 'ExternalAccountRequired');
  await session.server.close();
});

const KINDS: readonly ProxyFault[] = [
  ...(['429', '500', '404', 'half', 'html', 'endless', 'silence', 'reset', 'lost'] as const),
];

for (const seed of [1, 2, 3]) {
  test(`every Order behind a failing proxy is Issued after its recovery: seed ${seed}`, async (t) => {
    let calls = 0;
    let state = seed;
    const random = (): number => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state / 2 ** 31;
    };
    const proxy = await startFaultProxy(pebble, (path) => {
      calls += 1;
      if (calls > 300 || random() > 0.3) return undefined;
      // The directory and nonces fail as well; what is lost is lost of every call.
      const kind = KINDS[Math.floor(random() * KINDS.length)];
      return path === '/dir' && kind === 'endless' ? 'silence' : kind;
    });
    const newOrders: string[] = [];
    const session = await openSession(proxy, (endpoint, outcome) => {
      if (endpoint === 'newOrder') newOrders.push(outcome);
    });
    const records = new TxtRecords(pebble);
    const reasons = new Set<string>();
    let attempts = 0;
    const issue = async (index: number): Promise<void> => {
      const base = `f${seed}-${index}.example`;
      const request = wanted([base, `*.${base}`, `b.${base}`]);
      for (let attempt = 1; ; attempt += 1) {
        attempts += 1;
        const order = new LivedOrder(session, request, records, `${seed}-${index}-${attempt}`);
        await order.run();
        for (const reason of order.reasons) reasons.add(reason);
        assert.notEqual(order.status.state, 'failed', JSON.stringify(order.status));
        if (order.status.state === 'valid') return;
        assert.ok(attempt < 10, JSON.stringify(order.status));
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, index) => issue(index)));
    assert.deepEqual(records.left, []);
    const lost = newOrders.filter((outcome) => ['cut-off', 'timeout'].includes(outcome)).length;
    t.diagnostic(
      `${proxy.faults.length} faults in ${calls} calls; ${attempts} Orders for 8 requests; ${lost} answers of newOrder lost; waited for ${[...reasons].sort().join(', ')}`,
    );
    await session.server.close();
    await proxy.stop();
  });
}
