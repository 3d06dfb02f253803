// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  appendFor,
  type AppendAnswer,
  type AppendInit,
  type ReadBatch,
} from '#ledger/ledger/append.ts';
import { componentOf, createTokenAuthenticator } from '#ledger/ledger/token-review.ts';
import { logFile } from '#ledger/ledger/files.ts';
import { grantsOf, parseGrant } from '#ledger/ledger/grants.ts';
import {
  noteSigner,
  openSqlite,
  openStore,
  type LedgerStore,
  type LogNaming,
} from '#ledger/index.ts';
import { unavailable } from '#ledger/database/database.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { issuedRecord, naming, PREFIX } from '../../support/ledger/records.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-append-'));
const AUDIENCE = 'append.ledger.countersign.dev';
const SENDER = 'system:serviceaccount:countersign-system:countersign-pcr-issuer';

let store: LedgerStore;
before(async () => {
  store = await openStore(openSqlite(join(root, 'ledger.db')));
});
after(async () => {
  await store.close();
  rmSync(root, { recursive: true, force: true });
});

const callerNamed = (
  username: string,
): NonNullable<Awaited<ReturnType<AppendInit['authenticate']>>> => ({
  username,
  groups: [],
  extra: {},
});

function namingOf(): LogNaming {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { prefix: PREFIX, publicKey: noteSigner(PREFIX, privateKey).publicKey };
}

function init(changes: Partial<AppendInit> = {}): AppendInit {
  return {
    component: recordedComponent({ name: 'ledger' }),
    store,
    authenticate: () => Promise.resolve(callerNamed(SENDER)),
    grants: grantsOf([parseGrant('pcr-issuer=example.com/workload')], false),
    omitted: new Set(),
    namespace: 'countersign-system',
    naming: namingOf,
    ...changes,
  };
}

const record = (n: number): object => issuedRecord(n, { key: `pcr-issuer/${n}` });

async function send(body: unknown, changes: Partial<AppendInit> = {}): Promise<AppendAnswer> {
  return appendFor(init(changes), 'token', () => Promise.resolve(JSON.stringify(body)));
}

test('what is kept and what is not is said for each record, in order', async () => {
  const other = issuedRecord(2, { key: 'signer/2' });
  const { status, body } = await send([record(1), other, { kind: 'nonsense' }, record(3)]);
  assert.equal(status, 200);
  const { results } = JSON.parse(body) as { results: { error?: { code: string } }[] };
  const codes = results.map(({ error }) => error?.code);
  assert.deepEqual(codes, [undefined, 'LEDGER_REFUSED', 'LEDGER_MALFORMED', undefined]);
  const { records: found } = await store.find({
    terms: [{ kind: 'request', value: 'request-3' }],
    limit: 9,
  });
  assert.equal(found.length, 1);
});

test('does not keep omitted fields; a repetition is the same record despite new ones', async () => {
  const user = { username: 'jane.roe', groups: ['dev'] };
  const of = issuedRecord(7, { key: 'pcr-issuer/7', requester: { user } });
  const omitted = new Set(['user'] as const);
  for (const changes of [{ omitted }, {}]) {
    const { body } = await send([of], changes);
    assert.deepEqual(JSON.parse(body), { results: [{}] });
  }
  const terms = [{ kind: 'request', value: 'request-7' }] as const;
  const { records: found } = await store.find({ terms, limit: 9 });
  assert.equal(found.length, 1);
  assert.ok(!Buffer.from(found[0]?.body ?? '').includes('jane.roe'));
});

test('nothing of a record reaches the log, whatever becomes of it', async () => {
  const component = recordedComponent({ name: 'ledger' });
  const secret = 'only-in-the-record';
  const of = (changes: object): object => ({
    ...issuedRecord(20, { key: `pcr-issuer/${secret}` }),
    requester: { user: { username: secret, groups: [secret] } },
    ...changes,
  });
  const all = [
    of({}),
    of({ decision: { rule: secret } }),
    of({ signer: { name: `example.com/${secret}` } }),
    of({ [secret]: secret }),
    of({ certificate: Buffer.from(secret).toString('base64'), key: 'pcr-issuer/21' }),
  ];
  await send(all, { component });
  const away = { ...store, append: () => Promise.reject(unavailable('it is away')) };
  await send(all, { component, store: away });
  await send({ [secret]: secret }, { component });
  assert.ok(component.log.lines.length > 0);
  assert.ok(!JSON.stringify([component.log.lines, component.counted]).includes(secret));
});

const refused: [law: string, status: number, changes: Partial<AppendInit>, body?: unknown][] = [
  ['while this replica does not lead', 503, { naming: () => undefined }],
  ['a token of nobody', 401, { authenticate: () => Promise.resolve(undefined) }],
  [
    'another ServiceAccount',
    403,
    { authenticate: () => Promise.resolve(callerNamed('system:serviceaccount:x:y')) },
  ],
  ['a body that is no list', 400, {}, { records: [] }],
];

for (const [law, status, changes, body = [record(9)]] of refused) {
  test(`nothing is appended: ${law}`, async () => {
    assert.equal((await send(body, changes)).status, status);
    const terms = [{ kind: 'request', value: 'request-9' }] as const;
    assert.deepEqual((await store.find({ terms, limit: 9 })).records, []);
  });
}

test('a batch is not read before it is known who sends it', async () => {
  const whoRead: string[] = [];
  const readBy = (who: string) => (): Promise<string> => {
    whoRead.push(who);
    return Promise.resolve('[]');
  };
  for (const [law, , changes] of refused.slice(0, 3)) {
    await appendFor(init(changes), 'token', readBy(law));
  }
  assert.deepEqual(whoRead, []);
  assert.equal((await appendFor(init(), 'token', readBy('a component'))).status, 200);
  assert.deepEqual(whoRead, ['a component']);
});

test('nothing is appended by a replica that has lost the lead while it read the batch', async () => {
  let leads = true;
  const lost = init({ naming: () => (leads ? namingOf() : undefined) });
  const { status } = await appendFor(lost, 'token', () => {
    leads = false;
    return Promise.resolve(JSON.stringify([record(9)]));
  });
  assert.equal(status, 503);
  const terms = [{ kind: 'request', value: 'request-9' }] as const;
  assert.deepEqual((await store.find({ terms, limit: 9 })).records, []);
});

test('a batch that is not taken is refused, and counted, as whoever reads it says', async () => {
  const component = recordedComponent({ name: 'ledger' });
  for (const status of [413, 503] as const) {
    const read = (): ReturnType<ReadBatch> => Promise.resolve({ status, body: 'not taken\n' });
    const answer = await appendFor(init({ component }), 'token', read);
    assert.deepEqual(answer, { status, body: 'not taken\n' });
  }
  const counted = JSON.stringify(component.counted);
  assert.ok(counted.includes('"413"') && counted.includes('"503"'), counted);
});

test('a token is reviewed once for the audience of appends, and again after a minute', async () => {
  let now = 0;
  const component = recordedComponent({ clock: () => now });
  const { requests } = component.client;
  let audiences: readonly string[] = [AUDIENCE];
  component.client.answer(() => ({
    status: { authenticated: true, audiences, user: { username: SENDER } },
  }));
  const authenticate = createTokenAuthenticator(component);
  assert.deepEqual(
    [await authenticate('a.b.c'), await authenticate('a.b.c')],
    [callerNamed(SENDER), callerNamed(SENDER)],
  );
  assert.equal(requests.length, 1);
  assert.deepEqual((requests[0]?.body as { spec: object }).spec, {
    token: 'a.b.c',
    audiences: [AUDIENCE],
  });
  now = 61_000;
  audiences = ['https://kubernetes.default.svc'];
  assert.equal(await authenticate('a.b.c'), undefined);
  assert.equal(await authenticate(''), undefined);
  assert.equal(requests.length, 2);
});

test('a component is known by its ServiceAccount in the namespace of the components', () => {
  assert.equal(componentOf(SENDER, 'countersign-system'), 'pcr-issuer');
  assert.equal(componentOf(SENDER, 'countersign'), undefined);
  assert.equal(componentOf('countersign-pcr-issuer', 'countersign-system'), undefined);
});

test('tiles are files; of a tile that grows, each width that it has had', async () => {
  const of = `/log/1`;
  const [width = 0] = (await store.logs()).map(({ size }) => size);
  const whole = await logFile(store, `${of}/tile/0/000.p/${width}`);
  const first = await logFile(store, `${of}/tile/0/000.p/1`);
  assert.equal(whole?.length, width * naming.publicKey.length);
  assert.deepEqual(first, whole.subarray(0, 32));
  for (const path of [
    `${of}/tile/0/000.p/${width + 1}`,
    `${of}/tile/0/001`,
    `${of}/x`,
    '/log/9/checkpoint',
    '/',
  ]) {
    assert.equal(await logFile(store, path), undefined);
  }
});
