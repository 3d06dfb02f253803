// SPDX-License-Identifier: Apache-2.0
/**
 * The life of an Order against a server in memory: killed at each boundary, refused in each way.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge, type AcmeCallKind } from '#acme/orders/verdict.ts';
import { problem, SimulatedCa, type Fault } from './simulated-ca.ts';
import { SimulatedLife } from './simulated-life.ts';

const NAMES = ['a.example', '*.a.example', 'b.example'];
const MINUTE = 60_000;

function lived(faults?: (call: string) => Fault | undefined): SimulatedLife {
  return new SimulatedLife(new SimulatedCa(faults), NAMES);
}

function requireIssued({ status, ca, challenges }: SimulatedLife): void {
  assert.deepEqual([status.state, status.certificate], ['valid', 'PEM'], JSON.stringify(status));
  assert.equal(challenges.size, 0);
  const left = [...ca.records.values()].flatMap((values) => [...values]);
  assert.deepEqual(left, [], 'records that were left');
}

test('an Order is Issued with each call made once, and leaves nothing behind', () => {
  const life = lived();
  life.run();
  requireIssued(life);
  const count = (name: string): number => life.steps.filter((step) => step === name).length;
  assert.deepEqual(
    ['newOrder', 'present', 'accept', 'finalize', 'download', 'cleanUp'].map(count),
    [1, 3, 3, 1, 1, 3],
  );
});

test('a Challenge is read before presenting and accepted after its self-check', () => {
  const life = new SimulatedLife(new SimulatedCa(), ['a.example']);
  life.run();
  const own = ['queue', 'readAuthorization', 'present', 'selfCheck', 'accept', 'cleanUp'];
  const steps = life.steps.slice(life.steps.indexOf('queue'));
  const first = own.map((step) => steps.indexOf(step));
  assert.ok(
    first.every((index, place) => index > (first[place - 1] ?? -1)),
    steps.join(', '),
  );
});

test('what the server has found valid before is not presented', () => {
  const life = new SimulatedLife(new SimulatedCa(), ['a.example']);
  const { ca } = life;
  const real = ca.readAuthorization.bind(ca);
  ca.readAuthorization = (url) => {
    const authorization = ca.authorizations.get(url);
    if (authorization !== undefined) authorization.status = 'valid';
    return real(url);
  };
  life.run();
  requireIssued(life);
  assert.ok(!life.steps.includes('present') && !life.steps.includes('accept'));
});

test('a self-check that fails is repeated every ten seconds, for as long as it takes', () => {
  const life = new SimulatedLife(new SimulatedCa(), ['a.example']);
  const checkedAt: number[] = [];
  life.selfCheck = () => {
    checkedAt.push(life.now);
    return checkedAt.length < 100 ? 'ns2 has no record' : undefined;
  };
  life.run();
  requireIssued(life);
  const gaps = new Set(checkedAt.slice(1).map((at, index) => at - (checkedAt[index] ?? 0)));
  assert.deepEqual([...gaps], [10_000]);
});

// The matrix makes itself: each boundary that a calm life passes is a place to be killed at.
const calm = lived();
calm.run();

for (const [index, boundary] of calm.boundaries.entries()) {
  test(`killed at boundary ${index + 1}, ${boundary}: ends Issued, repeats lost calls`, () => {
    const life = lived();
    life.killAt = index + 1;
    life.run();
    requireIssued(life);
    const { orders, authorizations } = life.ca;
    // newOrder has no idempotency key: its answer was lost with the process.
    assert.equal(orders.size, boundary === 'answer of newOrder' ? 2 : 1);
    assert.ok([...orders.values()].every(({ finalized }) => finalized <= 1));
    assert.ok([...authorizations.values()].every(({ accepted }) => accepted <= 1));
    const finalize = life.steps.indexOf('finalize');
    const killedBefore = index < calm.boundaries.lastIndexOf('answer of finalize');
    assert.ok(killedBefore || life.steps.slice(finalize + 1).includes('readOrder'));
  });
}

const ILL: readonly [what: string, fault: Fault][] = [
  ['429 with Retry-After', problem(429, 'rateLimited', 90_000)],
  ['429 without', problem(429, 'none')],
  ['500', problem(500, 'serverInternal')],
  ['503 of a proxy', problem(503, 'none')],
  ['nonces refused', problem(400, 'badNonce')],
  ['a lost answer', 'lost'],
  [
    'no connection',
    { kind: 'transport', cause: 'unreachable', detail: 'refused', mayHaveArrived: false },
  ],
  ['HTML', { kind: 'transport', cause: 'unusable', detail: 'no JSON', mayHaveArrived: true }],
];

for (const [what, fault] of ILL) {
  for (const often of [1, 5, 20]) {
    test(`${what}, ${often} times at each call: nothing is terminal, all end Issued`, () => {
      const left = new Map<string, number>();
      const life = lived((call) => {
        const count = left.get(call) ?? often;
        left.set(call, count - 1);
        // Finalize and acceptance happen once, whatever their answers.
        const arrived = fault === 'lost' && (call === 'finalize' || call === 'accept');
        return count > (arrived ? often - 1 : 0) ? fault : undefined;
      });
      life.run(3000);
      requireIssued(life);
      // Each lost answer of newOrder is an order that nobody knows of; nothing else makes one.
      assert.equal(life.ca.orders.size, fault === 'lost' ? often + 1 : 1);
      // What was done is seen by reading, and not done again.
      assert.ok([...life.ca.authorizations.values()].every(({ accepted }) => accepted <= 1));
    });
  }
}

test('an Order that the CA limits waits for Retry-After to the second', () => {
  const life = lived((call) =>
    call === 'newOrder' && life.now < 1_000_000 + 90_000
      ? problem(429, 'rateLimited', 90_000)
      : undefined,
  );
  life.run();
  requireIssued(life);
  assert.equal(life.steps.filter((step) => step === 'newOrder').length, 2);
});

test('429 to newOrder or finalize pauses orders only; to other calls, the account', () => {
  const about = { failures: 1, limits: 1, notFound: 0, uid: 'u' } as const;
  const circumstances = { ...about, replaces: false, accountIsValid: false };
  const whole = [problem(429, 'none'), problem(400, 'rateLimited'), problem(503, 'none', 5000)];
  const single = [problem(503, 'none'), problem(400, 'badNonce'), problem(404, 'malformed')];
  const pauses = (attempted: AcmeCallKind) =>
    [...whole, ...single].map((each) => {
      const verdict = judge(each, { ...circumstances, attempted });
      return 'pauses' in verdict ? verdict.pauses : undefined;
    });
  const none = [undefined, undefined, undefined];
  for (const attempted of ['read', 'challenge', 'download'] as const)
    assert.deepEqual(pauses(attempted), ['account', 'account', 'account', ...none]);
  // Nothing in a 503 concerns the names of one order.
  for (const attempted of ['newOrder', 'finalize'] as const)
    assert.deepEqual(pauses(attempted), ['orders', 'orders', 'account', ...none]);
});

test('a rate limit lasts as long as the server says, and another error an hour at most', () => {
  const about = { attempted: 'read', failures: 1, limits: 1, notFound: 0, uid: 'u' } as const;
  const circumstances = { ...about, replaces: false, accountIsValid: true };
  const week = 7 * 24 * 3_600_000;
  const waits = [
    problem(429, 'none', week),
    problem(400, 'rateLimited', week),
    problem(503, 'none', week),
    problem(400, 'badNonce', week),
    problem(404, 'malformed', week),
    problem(403, 'userActionRequired', week),
  ].map((each) => {
    const verdict = judge(each, circumstances);
    return 'afterMs' in verdict ? verdict.afterMs : undefined;
  });
  const hour = 3_600_000;
  assert.deepEqual(waits, [week, week, hour, hour, hour, hour]);
});

test('a server that takes its time is asked less and less often, or when it says', () => {
  for (const [retryAfterMs, wanted] of [
    [undefined, [2000, 4000, 8000]],
    [30_000, [30_000, 30_000, 30_000]],
  ] as const) {
    const life = new SimulatedLife(new SimulatedCa(), ['a.example']);
    const readAt: number[] = [];
    const { ca } = life;
    const real = ca.readOrder.bind(ca);
    ca.readOrder = (url) => {
      const order = ca.orders.get(url);
      const isSlow = order?.status === 'processing' && readAt.push(life.now) < 4;
      const answer = real(url);
      if (!isSlow || answer.kind !== 'ok') return answer;
      order.status = 'processing';
      const value = { ...answer.value, status: 'processing', certificate: undefined } as const;
      return { kind: 'ok', value, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    };
    life.run();
    requireIssued(life);
    const gaps = readAt.slice(1).map((at, index) => at - (readAt[index] ?? 0));
    assert.deepEqual(gaps, wanted);
  }
});

test('three 404 of replicas that lag are waited out; a fourth is an order that is gone', () => {
  for (const [count, state] of [
    [3, 'valid'],
    [4, 'invalid'],
  ] as const) {
    let left: number = count;
    const life = lived((call) => {
      if (call !== 'readOrder' || left === 0) return undefined;
      left -= 1;
      return problem(404, 'malformed');
    });
    life.run();
    assert.equal(life.status.state, state);
  }
});

for (const type of [
  'badCSR',
  'rejectedIdentifier',
  'unsupportedIdentifier',
  'badPublicKey',
] as const) {
  test(`${type} ends the request: the CA confirms what no retry heals`, () => {
    const life = lived((call) => (call === 'newOrder' ? problem(400, type) : undefined));
    life.run();
    assert.equal(life.status.state, 'failed');
    assert.equal(life.ca.calls, 1);
  });
}

test('`unauthorized` ends a request only once the account was read and is valid', () => {
  const life = lived((call) => (call === 'newOrder' ? problem(403, 'unauthorized') : undefined));
  life.run();
  assert.equal(life.status.state, 'failed');
  assert.deepEqual(life.steps, ['newOrder', 'readAccount', 'newOrder']);
});

test('refused terms, accounts and profiles make the signer wait and fail no request', () => {
  for (const type of ['userActionRequired', 'externalAccountRequired', 'invalidProfile'] as const) {
    let refusals = 5;
    const life = lived((call) => {
      if (call !== 'newOrder' || refusals === 0) return undefined;
      refusals -= 1;
      return problem(403, type);
    });
    life.run();
    requireIssued(life);
  }
});

test('a server that refuses to hear what is replaced is asked once without it', () => {
  const life = lived();
  life.replaces = true;
  life.ca.refusesReplaces = true;
  life.run();
  requireIssued(life);
  assert.deepEqual(life.steps.slice(0, 2), ['newOrder', 'newOrder']);
});

test('an authorization that the CA finds invalid ends the Order and cleans up others', () => {
  const life = lived();
  const real = life.ca.accept.bind(life.ca);
  life.ca.accept = (url) => {
    // Somebody removed the record between the self-check and the CA's own look.
    if (url === 'authz-1') life.ca.records.get('a.example')?.delete(url);
    return real(url);
  };
  life.run();
  assert.equal(life.status.state, 'invalid');
  assert.equal(life.status.reason, 'AuthorizationInvalid');
  assert.equal(life.challenges.size, 0);
  assert.deepEqual(
    [...life.ca.records.values()].flatMap((values) => [...values]),
    [],
  );
});

test('an Order makes no call until its solver can present', () => {
  const life = new SimulatedLife(new SimulatedCa(), ['a.example']);
  let tries = 0;
  life.present = () => {
    tries += 1;
    return tries < 50 ? 'the DNS server refused the update' : undefined;
  };
  life.run();
  requireIssued(life);
  const [authorization] = life.ca.authorizations.values();
  assert.deepEqual([tries, authorization?.accepted], [50, 1]);
});

test('a failing cleanup is tried for ten minutes, so it does not block a namespace', () => {
  const life = new SimulatedLife(new SimulatedCa(), ['a.example']);
  const triedAt: number[] = [];
  life.cleanUp = () => {
    triedAt.push(life.now);
    return 'the DNS server is gone';
  };
  life.run();
  assert.equal(life.status.state, 'valid');
  assert.equal(life.challenges.size, 0);
  const [first = 0] = triedAt;
  assert.ok(triedAt.length > 5 && (triedAt.at(-1) ?? 0) - first <= 10 * MINUTE);
});

test('an abandoned Order makes no more calls and cleans up despite any limit', () => {
  const life = new SimulatedLife(
    new SimulatedCa((call) =>
      call === 'accept' ? problem(429, 'rateLimited', 7 * 24 * 60 * MINUTE) : undefined,
    ),
    ['a.example'],
  );
  assert.throws(() => life.run(8), /accept$/);
  const { calls } = life.ca;
  const abandonedAt = life.now;
  life.abandoned = true;
  life.run();
  assert.deepEqual([life.ca.calls, life.now, life.challenges.size], [calls, abandonedAt, 0]);
});
