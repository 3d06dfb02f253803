// SPDX-License-Identifier: Apache-2.0
/**
 * What runs for a Challenge: the server is read first, nothing is held for what may not be proved,
 * turns end.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Challenge } from '#api/acme/challenge.ts';
import { keyOf } from '#api/object/object.ts';
import { driveChallenge } from '#acme/acme/challenges/challenge-work.ts';
import { ChallengeSlots } from '#acme/acme/challenges/slots.ts';
import type { AcmeContext } from '#acme/acme/context.ts';
import { createSessions } from '#acme/acme/signers/sessions.ts';
import { beginTerm } from '#acme/acme/store/leader-state.ts';
import { recordedComponent } from '../../../support/component/recorded-component.ts';
import { at, MINUTE, NOW } from '../requests/build.ts';

/** Of ADR 0069. */
const TURN_MS = 45 * MINUTE;
const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/acme/acct/1';

interface Authorization {
  readonly status: string;
  readonly expires?: number;
  readonly challenges: readonly object[];
}

const pending = (more: object = {}): Authorization => ({
  status: 'pending',
  challenges: [],
  ...more,
});

/** A Challenge of a namespace, which acme-solver presents. */
function challenge(namespace: string, spec: object = {}, status: object = {}): Challenge {
  return {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'Challenge',
    metadata: {
      namespace,
      name: 'c',
      uid: `c-${namespace}`,
      resourceVersion: '1',
      creationTimestamp: at(NOW),
    },
    spec: {
      signerRef: { kind: 'AcmeSigner', name: 'web' },
      orderRef: { name: 'o', uid: `o-${namespace}` },
      authorizationURL: `https://ca.example/authz/${namespace}`,
      url: `https://ca.example/challenge/${namespace}`,
      type: 'dns-persist-01',
      dnsName: 'a.example',
      wildcard: false,
      solver: 'dns',
      ...spec,
    },
    status,
  } as unknown as Challenge;
}

/** Challenges on one clock, and a server that says this of every authorization. */
function build(made: readonly Challenge[], isReady = true, account = 'https://ca.example/account') {
  const world = {
    now: NOW,
    authorization: pending(),
    checked: 'not yet' as string | undefined,
    challenges: new Map(made.map((each) => [keyOf(each.metadata), each])),
    asked: [] as string[],
    woken: [] as string[],
  };
  const component = recordedComponent({ name: 'acme', clock: () => world.now });
  component.client.answer(({ body }) => body);
  const server = {
    resources: {},
    post: (_caller: unknown, { url }: { readonly url: string }) => {
      world.asked.push(url);
      return Promise.resolve({ kind: 'ok', value: world.authorization });
    },
  };
  const sessions = createSessions();
  const session = { server, account: { account } };
  for (const { metadata } of made)
    if (isReady)
      sessions.set(`${metadata.namespace ?? ''}/web`, { kind: 'ready', session } as never);
  const term = beginTerm(NOW, 2);
  const solvers = [
    { name: 'dns', rfc2136: { server: '192.0.2.1:53' } },
    { name: 'http', http01: {} },
  ];
  const context = {
    component,
    sessions,
    http01Grants: [],
    term: () => term,
    checkChallenge: () => Promise.resolve(world.checked),
    signers: { get: () => ({ metadata: {}, spec: { acme: { solvers } } }) },
    challenges: {
      applyWrite: (written: Challenge) => {
        world.challenges.set(keyOf(written.metadata), written);
      },
    },
  } as unknown as AcmeContext;
  const slots = new ChallengeSlots({
    term,
    now: () => world.now,
    callAt: () => undefined,
    wake: (key) => void world.woken.push(key),
  });
  const of = (namespace: string): Challenge => {
    const found = world.challenges.get(`${namespace}/c`);
    assert.ok(found);
    return found;
  };
  return {
    world,
    term,
    slots,
    sessions,
    component,
    of,
    run: (namespace: string) => driveChallenge(context, term, slots, of(namespace)),
    /** acme-solver's word. */
    presented: (namespace: string, presented: boolean) => {
      const { status, ...rest } = of(namespace);
      const solver = { presented, changedAt: at(world.now) };
      world.challenges.set(`${namespace}/c`, { ...rest, status: { ...status, solver } });
    },
  };
}

test('a Challenge that is scheduled is read from the server before it is presented', async () => {
  const { world, run, of, component } = build([challenge('team-a', { type: 'dns-01' })]);
  await run('team-a');
  assert.deepEqual(world.asked, ['https://ca.example/authz/team-a']);
  const { processing, state } = of('team-a').status;
  assert.deepEqual([processing, state], [true, 'pending']);
  // Its slot and the reading are one write: a solver sees neither without the other.
  assert.equal(component.client.requests.length, 1);
});

test('a server-validated Challenge is valid at once, frees its slot, is not presented', async () => {
  const { world, run, of, term, component } = build([challenge('team-a', { type: 'dns-01' })]);
  world.authorization = pending({ status: 'valid' });
  await run('team-a');
  assert.deepEqual([of('team-a').status.processing, of('team-a').status.state], [false, 'valid']);
  assert.equal(term.scheduler.used, 0);
  for (const { body } of component.client.requests)
    assert.notEqual((body as Challenge).status.state, 'pending');
});

test('no slot is held for a name that may not be proved or an unready signer', async () => {
  const ungranted = build([challenge('team-a', { type: 'http-01', solver: 'http' })]);
  await ungranted.run('team-a');
  assert.equal(ungranted.of('team-a').status.reason, 'NameNotGranted');
  const unready = build([challenge('team-a')], false);
  await unready.run('team-a');
  assert.equal(unready.of('team-a').status.reason, 'SignerNotReady');
  for (const { term, world } of [ungranted, unready]) {
    assert.deepEqual([term.scheduler.used, world.asked], [0, []]);
  }
});

test('no Challenge yields to one whose signer is not ready any more', async () => {
  const both = [challenge('evil', { type: 'dns-01' }), challenge('team', { type: 'dns-01' })];
  const { world, run, of, slots, sessions, term } = build(both);
  for (const name of ['team', 'evil']) await run(name);
  sessions.set('evil/web', { kind: 'waiting', reason: 'x', message: 'x' } as never);
  await run('evil');
  assert.equal(of('evil').status.reason, 'SignerNotReady');
  world.now += TURN_MS;
  slots.give();
  assert.equal(slots.mustYield('c-team'), false);
  // Nor does it get the slot that the other gives back.
  slots.free('c-team');
  assert.equal(term.scheduler.used, 0);
});

test('one that is deleted while its turn ends requests no other turn', async () => {
  const both = [challenge('evil', { type: 'dns-01' }), challenge('team', { type: 'dns-01' })];
  const { world, run, slots, term, component } = build(both);
  for (const name of ['evil', 'team']) await run(name);
  world.now += TURN_MS;
  slots.give();
  // The watch shows that it is gone before the write is answered.
  component.client.answer(({ body }) => {
    term.challenges.delete('c-evil');
    slots.free('c-evil');
    return body;
  });
  await run('evil');
  slots.free('c-team');
  assert.equal(term.scheduler.used, 0);
});

test('a Challenge removes its proof after its turn, before another of that name', async () => {
  const both = [challenge('evil', { type: 'dns-01' }), challenge('team', { type: 'dns-01' })];
  const { world, run, of, presented, slots, term } = build(both);
  await run('evil');
  presented('evil', true);
  await run('evil');
  assert.equal(of('evil').status.reason, 'NotPropagated');
  await run('team');
  assert.equal(of('team').status.processing, undefined);
  world.now += TURN_MS;
  slots.give();
  await run('evil');
  // Its solver sees that it has no slot any more.
  assert.deepEqual(
    [of('evil').status.processing, of('evil').status.reason],
    [false, 'WaitingForTurn'],
  );
  assert.match(of('evil').status.message ?? '', /NotPropagated: not yet/);
  // Its next turn begins with a reading: until then no solver may take it for pending.
  assert.equal(of('evil').status.state, undefined);
  await run('team');
  assert.notEqual(of('team').status.processing, true);
  world.now += MINUTE;
  presented('evil', false);
  await run('evil');
  await run('team');
  assert.deepEqual([of('team').status.processing, of('team').status.state], [true, 'pending']);
  // And by turns: the first one runs again once the other has ended.
  world.authorization = pending({ status: 'valid' });
  slots.free('c-team');
  await run('evil');
  assert.equal(of('evil').status.state, 'valid');
  assert.equal(term.scheduler.used, 0);
});

test('a Challenge’s message has why a route is not served', async () => {
  const made = challenge('team', { type: 'dns-01' });
  const { world, run, of, presented } = build([made]);
  await run('team');
  presented('team', true);
  const { status, ...rest } = of('team');
  const solver = { ...status.solver, reason: 'RouteNotAdmitted', message: 'no listener' };
  world.challenges.set('team/c', { ...rest, status: { ...status, solver } });
  await run('team');
  const { reason, message } = of('team').status;
  assert.deepEqual([reason, message], ['NotPropagated', 'not yet; no listener']);
});

test('a proof that cannot be taken down holds up the next one for ten minutes', async () => {
  const both = [challenge('evil', { type: 'dns-01' }), challenge('team', { type: 'dns-01' })];
  const { world, run, of, presented, slots, component } = build(both);
  await run('evil');
  presented('evil', true);
  await run('team');
  world.now += TURN_MS;
  slots.give();
  await run('evil');
  world.now += 10 * MINUTE;
  await run('evil');
  assert.ok(component.notes.some(({ reason }) => reason === 'CleanupTimedOut'));
  await run('team');
  assert.equal(of('team').status.processing, true);
});

test('a Challenge keeps its turn while no other waits, polled every ten seconds', async () => {
  const { world, run, of, presented, slots } = build([challenge('team', { type: 'dns-01' })]);
  await run('team');
  presented('team', true);
  for (let look = 0; look < 3; look += 1) {
    world.now += 10 * TURN_MS;
    slots.give();
    const next = await run('team');
    assert.equal(of('team').status.nextAttemptAt, at(world.now + 10_000));
    assert.deepEqual(next, { requeueAt: world.now + 10_000 });
  }
  assert.equal(of('team').status.processing, true);
});

test('at the end of its authorization it ends as expired, and gives its slot back', async () => {
  const { world, run, of, presented, term } = build([challenge('team', { type: 'dns-01' })]);
  world.authorization = pending({ expires: NOW + 5_000 });
  await run('team');
  presented('team', true);
  assert.deepEqual(await run('team'), { requeueAt: NOW + 5_000 });
  world.now += 5_000;
  await run('team');
  const { state, processing, reason, message } = of('team').status;
  assert.deepEqual([state, processing, reason], ['expired', false, 'AuthorizationExpired']);
  assert.match(message ?? '', /NotPropagated: not yet/);
  assert.equal(term.scheduler.used, 0);
});

test('a waiting Challenge ends with its authorization, which its Order has read', async () => {
  const both = ['evil', 'team'].map((name) => challenge(name, { type: 'dns-01' }));
  const { run, of, world, term } = build(both);
  const expiries = new Map([['https://ca.example/authz/team', NOW + MINUTE]]);
  term.orders.set('o-team', { memory: { expiries } } as never);
  for (const name of ['evil', 'team']) await run(name);
  assert.equal(world.asked.length, 1);
  world.now += MINUTE;
  await run('team');
  assert.equal(of('team').status.state, 'expired');
  assert.equal(world.asked.length, 1);
});

test('a name’s sixth failing validation in an hour waits and stops no other call', async () => {
  const { world, run, of, term, presented } = build(
    [challenge('team', { type: 'dns-01' })],
    true,
    LETS_ENCRYPT,
  );
  for (let failed = 0; failed < 5; failed += 1)
    term.budgets.countValidation(LETS_ENCRYPT, 'a.example', -1, NOW);
  await run('team');
  presented('team', true);
  world.checked = undefined;
  await run('team');
  assert.equal(of('team').status.reason, 'ValidationBudget');
  assert.deepEqual(world.asked, ['https://ca.example/authz/team']);
  assert.equal(term.gate.until(LETS_ENCRYPT, NOW), undefined);
  // One comes back every twelve minutes, and again where it was not used.
  world.now += 12 * MINUTE;
  await run('team');
  assert.equal(world.asked.length, 2);
  world.authorization = pending({ status: 'valid' });
  world.now += MINUTE;
  await run('team');
  assert.equal(of('team').status.state, 'valid');
  assert.equal(term.budgets.takeValidation(LETS_ENCRYPT, 'a.example', world.now), undefined);
});

test('who waits for its turn says so after a minute, and no Event does', async () => {
  const all = ['a', 'b', 'c'].map((name) =>
    challenge(name, { type: 'dns-01', dnsName: `${name}.example` }),
  );
  const { world, run, of, component } = build(all);
  for (const name of ['a', 'b', 'c']) await run(name);
  assert.deepEqual(of('c').status, {});
  world.now += MINUTE;
  await run('c');
  assert.equal(of('c').status.reason, 'WaitingForTurn');
  assert.deepEqual(component.notes, []);
});
