// SPDX-License-Identifier: Apache-2.0
/** The behaviours of issuer-lib's README for issuers, one by one, counted. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { IssuerError, PermanentError } from '#library/index.ts';
import type { Thing } from '../support/kube/memory-api.ts';
import {
  CSR,
  ISSUER,
  csrObject,
  issuerObject,
  ok,
  startReady,
  startWorld,
  type World,
} from './world.ts';

let it: World;

beforeEach(async () => {
  it = await startReady();
});
afterEach(() => it.stop());

const checks = (): number => it.author.checks.length;
const issuer = (): Thing => {
  const found = it.api.get(ISSUER);
  assert.ok(found);
  return found;
};

async function change(more: (object: Thing) => Partial<Thing>): Promise<void> {
  it.api.put(ISSUER, { ...issuer(), ...more(issuer()) });
  await it.settle();
}

test('15. an issuer first gets Ready=Unknown, Initializing, then Check is called', () => {
  const reasons = it.api.writes.map(({ object }) => {
    const { conditions } = object.status as { conditions: readonly Condition[] };
    return conditions[0]?.reason;
  });
  assert.deepEqual(reasons, ['Initializing', 'Checked']);
  assert.equal(checks(), 1);
});

test('17. Check passes: Ready=True, with the observed generation', () => {
  assert.deepEqual(
    [it.ready()?.status, it.ready()?.reason, it.ready()?.observedGeneration],
    ['True', 'Checked', 1],
  );
});

test('16. an ordinary error of Check is retried with backoff until Check passes', async () => {
  it.author.check = () => Promise.reject(new Error('CA is away'));
  await change(() => ({
    spec: issuerObject({ authority: { url: 'https://b.example.com' } }).spec,
  }));
  assert.deepEqual(
    [it.ready()?.status, it.ready()?.reason, it.ready()?.message],
    ['False', 'Pending', 'CA is away'],
  );
  await it.time.advance(120_000);
  assert.ok(checks() > 4 && checks() < 15, `${checks()} checks`);
  it.author.check = () => Promise.resolve();
  await it.time.advance(30_000);
  assert.equal(it.ready()?.status, 'True');
});

test('16. a PermanentError of Check: no retry until the generation increases', async () => {
  it.author.check = () => Promise.reject(new PermanentError('no such CA'));
  await change(() => ({
    spec: issuerObject({ authority: { url: 'https://b.example.com' } }).spec,
  }));
  assert.deepEqual([it.ready()?.status, it.ready()?.reason], ['False', 'Failed']);
  assert.equal(checks(), 2);
  await it.time.advance(120_000);
  await change(({ metadata }) => ({ metadata: { ...metadata, annotations: { again: '1' } } }));
  assert.equal(checks(), 2);
  it.author.check = () => Promise.resolve();
  await change(() => ({
    spec: issuerObject({ authority: { url: 'https://c.example.com' } }).spec,
  }));
  assert.equal(checks(), 3);
  assert.equal(it.ready()?.status, 'True');
});

test('13. an annotation or restart reconciles no permanently failed issuer', async () => {
  await it.stop();
  it = await startWorld();
  it.author.check = () => Promise.reject(new PermanentError('no such CA'));
  it.api.put(ISSUER, issuerObject());
  await it.settle();
  const failed = issuer();
  assert.equal(it.ready()?.reason, 'Failed');
  await change(({ metadata }) => ({ metadata: { ...metadata, annotations: { again: '1' } } }));
  assert.equal(checks(), 1);
  await it.stop();
  it = await startWorld();
  it.api.put(ISSUER, failed);
  await it.time.advance(120_000);
  assert.equal(checks(), 0);
  assert.deepEqual(it.api.writes, []);
});

test('13. a restart or an invalidated Ready reconciles an issuer not failed for good', async () => {
  const known = issuer();
  await it.stop();
  it = await startWorld();
  it.api.put(ISSUER, known);
  await it.settle();
  assert.equal(checks(), 1);
  assert.equal(it.api.writes.length, 0, 'it says what it said');
  it.author.sign = () => Promise.reject(new IssuerError('login expired'));
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  assert.equal(it.ready()?.status, 'False');
  await it.time.advance(2_000);
  assert.equal(checks(), 2, 'nothing of the issuer itself has changed');
});

test('14. a reported issuer error sets Ready=False with it, then calls Check', async () => {
  it.author.sign = () => Promise.reject(new IssuerError('login expired'));
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  assert.deepEqual(
    [it.ready()?.status, it.ready()?.reason, it.ready()?.message],
    ['False', 'Pending', 'login expired'],
  );
  assert.equal(checks(), 1);
  it.author.sign = ok;
  await it.time.advance(2_000);
  assert.equal(checks(), 2);
  assert.equal(it.ready()?.status, 'True');
});

test('14. a Check that passes and a Sign that fails with an issuer error do not loop', async () => {
  it.author.sign = () => Promise.reject(new IssuerError('login expired'));
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  await it.time.advance(120_000);
  assert.ok(it.author.signs.length <= 9, `${it.author.signs.length} calls in two minutes`);
});

test('14. an issuer error with a PermanentError cause stops checks until a generation', async () => {
  const cause = new PermanentError('the account is closed');
  it.author.sign = () => Promise.reject(new IssuerError('closed', { cause }));
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  assert.equal(it.ready()?.reason, 'Failed');
  await it.time.advance(120_000);
  assert.equal(checks(), 1);
});

/** A `sign` that waits until the test ends the call with an error. */
function heldSign(): { readonly sign: typeof ok; readonly end: (error: Error) => Promise<void> } {
  const { promise, reject } = Promise.withResolvers<never>();
  return {
    sign: () => promise,
    end: async (error) => {
      reject(error);
      await it.settle();
    },
  };
}

const CLOSED = new IssuerError('closed', { cause: new PermanentError('the account is closed') });

for (const [what, changed] of [
  ['a corrected spec', { authority: { url: 'https://b.example.com' } }],
  ['an issuer created again', undefined],
] as const) {
  test(`14. an issuer error of an earlier call does not stop ${what}`, async () => {
    const { sign, end } = heldSign();
    it.author.sign = sign;
    it.api.put(`${CSR}/a`, csrObject('a'));
    await it.settle();
    it.author.sign = ok;
    if (changed === undefined) {
      it.api.remove(ISSUER);
      await it.settle();
      it.api.put(ISSUER, issuerObject({}, { uid: 'issuer-two' }));
      await it.settle();
    } else await change(() => ({ spec: issuerObject(changed).spec }));
    assert.equal(it.ready()?.status, 'True');
    await end(CLOSED);
    await it.time.advance(120_000);
    assert.deepEqual([it.ready()?.status, it.ready()?.reason], ['True', 'Checked']);
    const { certificate } = it.api.get(`${CSR}/a`)?.status as { readonly certificate?: string };
    assert.ok(certificate !== undefined, 'the waiting request is signed for the new spec');
  });
}

test('14. a permanent issuer error counts after an ordinary one of another request', async () => {
  const { sign, end } = heldSign();
  it.author.sign = (request, ...more) =>
    request.name === 'slow' ? sign(request, ...more) : Promise.reject(new IssuerError('away'));
  it.api.put(`${CSR}/slow`, csrObject('slow'));
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  assert.equal(it.ready()?.message, 'away');
  await end(CLOSED);
  await it.time.advance(120_000);
  assert.deepEqual([it.ready()?.reason, it.ready()?.message], ['Failed', 'closed']);
  assert.equal(checks(), 1);
});

test('14. a permanent issuer error counts while an ordinary one is written', async () => {
  const { sign, end } = heldSign();
  it.author.sign = (request, ...more) =>
    request.name === 'slow' ? sign(request, ...more) : Promise.reject(new IssuerError('away'));
  const { client } = it.api;
  const request = client.request.bind(client);
  const written = Promise.withResolvers<undefined>();
  let isHeld = false;
  client.request = async <T>(init: Parameters<typeof request>[0]): Promise<T> => {
    if (init.method === 'PUT' && init.path.startsWith(ISSUER) && !isHeld) {
      isHeld = true;
      await written.promise;
    }
    return request<T>(init);
  };
  it.api.put(`${CSR}/slow`, csrObject('slow'));
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  assert.ok(isHeld);
  await end(CLOSED);
  written.resolve(undefined);
  await it.time.advance(120_000);
  assert.deepEqual([it.ready()?.reason, it.ready()?.message], ['Failed', 'closed']);
  assert.equal(checks(), 1);
});

const triggers: [what: string, more: (object: Thing) => Partial<Thing>][] = [
  [
    'an annotation is added',
    ({ metadata }) => ({ metadata: { ...metadata, annotations: { a: '1' } } }),
  ],
  [
    'its generation increases',
    () => ({ spec: issuerObject({ profile: { maxDuration: '2h' } }).spec }),
  ],
  ['its Ready condition is removed', () => ({ status: {} })],
];

for (const [what, more] of triggers) {
  test(`19. an issuer reconciles once when ${what}`, async () => {
    await change(more);
    assert.equal(checks(), 2);
    await it.time.advance(120_000);
    assert.equal(checks(), 2);
    assert.equal(it.ready()?.status, 'True');
  });
}

test('19. an issuer reconciles once for a changed annotation, and for a removed one', async () => {
  for (const [annotations, expected] of [
    [{ a: '1' }, 2],
    [{ a: '2' }, 3],
    [{}, 4],
  ] as const) {
    await change(({ metadata }) => ({ metadata: { ...metadata, annotations } }));
    assert.equal(checks(), expected);
  }
});

const withReady =
  (more: Partial<Condition>) =>
  (object: Thing): Partial<Thing> => {
    const { conditions } = object.status as { conditions: readonly Condition[] };
    return { status: { conditions: conditions.map((each) => ({ ...each, ...more })) } };
  };

const quiet: [what: string, more: (object: Thing) => Partial<Thing>][] = [
  ['a label is added', ({ metadata }) => ({ metadata: { ...metadata, labels: { a: '1' } } })],
  ['somebody edits a message of its status', withReady({ message: 'edited' })],
  ['somebody turns its Ready to False', withReady({ status: 'False', reason: 'Mine' })],
  [
    'another condition is added',
    ({ status }) => ({
      status: {
        conditions: [
          ...(status as { conditions: readonly Condition[] }).conditions,
          { type: 'Other', status: 'True' },
        ],
      },
    }),
  ],
];

for (const [what, more] of quiet) {
  test(`19. an issuer does not reconcile when ${what}`, async () => {
    await change(more);
    await it.time.advance(120_000);
    assert.equal(checks(), 1);
  });
}

test('19. an issuer does not reconcile on its own writes', async () => {
  await it.time.advance(120_000);
  assert.equal(checks(), 1);
  assert.equal(it.api.writes.length, 2);
});

test('an issuer with an invalid spec is not checked, and Ready names the field', async () => {
  await change(() => ({ spec: issuerObject({ authority: {} }).spec }));
  assert.deepEqual([it.ready()?.status, it.ready()?.reason], ['False', 'InvalidSpec']);
  assert.match(it.ready()?.message ?? '', /spec\.authority: url is no text/);
  await change(() => ({ spec: issuerObject({ profile: { maxDuration: '1s' } }).spec }));
  assert.match(it.ready()?.message ?? '', /spec\.profile\.maxDuration/);
  assert.equal(checks(), 1);
});

test('an issuer is checked once a new release of the author accepts its spec', async () => {
  await it.stop();
  const parse = (): never => {
    throw new Error('region is not known');
  };
  it = await startWorld({ schema: { parse } });
  it.api.put(ISSUER, issuerObject());
  await it.settle();
  const rejected = issuer();
  assert.equal(it.ready()?.reason, 'InvalidSpec');
  await it.stop();
  it = await startWorld();
  it.api.put(ISSUER, rejected);
  await it.settle();
  assert.deepEqual([it.ready()?.status, it.ready()?.reason], ['True', 'Checked']);
});

test('the older of two issuers of one signer name serves; the other’s Ready says why', async () => {
  const spec = issuerObject({ signerName: 'example.com/shared' }).spec as object;
  await it.stop();
  it = await startWorld();
  const at = '/apis/example.com/v1/testissuers';
  it.api.put(`${at}/one`, issuerObject(spec));
  it.api.put(
    `${at}/two`,
    issuerObject(spec, { name: 'two', uid: 'two', creationTimestamp: '2026-11-22T06:00:00Z' }),
  );
  await it.settle();
  assert.equal(it.conditionsOf(`${at}/two`)[0]?.reason, 'SignerNameTaken');
  assert.equal(it.ready()?.reason, 'Checked');
  it.api.remove(`${at}/one`);
  await it.settle();
  assert.equal(it.conditionsOf(`${at}/two`)[0]?.reason, 'Checked');
});
