// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Schedulable } from '#acme/orders/turns/line-up.ts';
import { ChallengeScheduler } from '#acme/orders/turns/scheduler.ts';

/** The source's number. */
const SLOTS = 60;

function challenge(id: number, more: Partial<Schedulable> = {}): Schedulable {
  return {
    id: `c${id}`,
    order: `o${id}`,
    namespace: 'team',
    signer: 's',
    name: `n${id}.example`,
    type: 'dns-01',
    createdAt: id,
    ...more,
  };
}

function ids(started: readonly Schedulable[]): readonly string[] {
  return started.map(({ id }) => id);
}

test('the oldest come first, and never more than there are slots', () => {
  const scheduler = new ChallengeScheduler(2);
  for (const id of [3, 1, 2]) scheduler.add(challenge(id));
  assert.deepEqual([scheduler.next(0), scheduler.next(0), scheduler.next(0)].map(ids), [
    ['c1'],
    ['c2'],
    [],
  ]);
  scheduler.remove('c1');
  assert.deepEqual(ids(scheduler.next(0)), ['c3']);
});

test('two of one name and type never run together, with another type they do', () => {
  const scheduler = new ChallengeScheduler(SLOTS);
  const name = 'same.example';
  scheduler.add(challenge(1, { name }));
  scheduler.add(challenge(2, { name }));
  scheduler.add(challenge(3, { name, type: 'http-01' }));
  scheduler.add(challenge(4, { name, signer: 'other' }));
  assert.deepEqual(
    [1, 2, 3].map(() => ids(scheduler.next(0))),
    [['c1'], ['c3'], []],
  );
  scheduler.remove('c1');
  assert.deepEqual(
    [1, 2].map(() => ids(scheduler.next(0))),
    [['c2'], []],
  );
  scheduler.remove('c2');
  assert.deepEqual(ids(scheduler.next(0)), ['c4']);
});

test('an Order’s wildcard and base name run together, even if one is later', () => {
  const scheduler = new ChallengeScheduler(3);
  const same = { order: 'o', name: 'a.example' };
  scheduler.add(challenge(1, same));
  scheduler.add(challenge(2, same));
  assert.deepEqual(ids(scheduler.next(0)), ['c1', 'c2']);
  scheduler.add(challenge(3, same));
  assert.deepEqual(ids(scheduler.next(0)), ['c3']);
  assert.equal(scheduler.used, 3);
  scheduler.add(challenge(4));
  assert.deepEqual(ids(scheduler.next(0)), []);
  for (const id of ['c1', 'c2']) scheduler.remove(id);
  assert.deepEqual(ids(scheduler.next(0)), ['c4']);
});

test('where one slot is free, a wildcard and its base name follow each other', () => {
  const scheduler = new ChallengeScheduler(1);
  const same = { order: 'o', name: 'a.example' };
  scheduler.add(challenge(1, same));
  scheduler.add(challenge(2, same));
  assert.deepEqual(ids(scheduler.next(0)), ['c1']);
  assert.deepEqual(ids(scheduler.next(0)), []);
  scheduler.remove('c1');
  assert.deepEqual(ids(scheduler.next(0)), ['c2']);
});

test('the namespace with the fewest running is next, even if served more recently', () => {
  const scheduler = new ChallengeScheduler(3);
  for (const id of [1, 2]) scheduler.add(challenge(id, { namespace: 'busy' }));
  for (const id of ['c1', 'c2']) assert.deepEqual(ids(scheduler.next(0)), [id]);
  scheduler.add(challenge(3, { namespace: 'calm' }));
  assert.deepEqual(ids(scheduler.next(0)), ['c3']);
  scheduler.add(challenge(4, { namespace: 'busy' }));
  scheduler.add(challenge(5, { namespace: 'calm' }));
  scheduler.remove('c3');
  assert.deepEqual(ids(scheduler.next(0)), ['c5']);
});

test('a signer with few slots holds up nobody else', () => {
  const scheduler = new ChallengeScheduler(SLOTS);
  scheduler.limit('small', 1);
  for (let id = 0; id < 100; id += 1) scheduler.add(challenge(id, { signer: 'small' }));
  scheduler.add(challenge(200, { signer: 'large' }));
  assert.deepEqual(
    [1, 2, 3].map(() => ids(scheduler.next(0))),
    [['c0'], ['c200'], []],
  );
  scheduler.limit('small', 2);
  assert.deepEqual(
    [1, 2].map(() => ids(scheduler.next(0))),
    [['c1'], []],
  );
});

test('what ran before a restart keeps its slot, even beyond the limit', () => {
  const scheduler = new ChallengeScheduler(2);
  for (const id of [1, 2, 3]) scheduler.adopt(challenge(id), 0);
  scheduler.add(challenge(4));
  for (const id of ['c1', 'c2']) {
    assert.deepEqual(ids(scheduler.next(0)), []);
    scheduler.remove(id);
  }
  assert.deepEqual(ids(scheduler.next(0)), ['c4']);
});

test('adding, removing and restarting in any order breaks no law and forgets none', () => {
  const command = fc.record({
    what: fc.constantFrom('add', 'add', 'add', 'next', 'next', 'remove', 'yields'),
    order: fc.nat(1),
    name: fc.nat(1),
    type: fc.constantFrom('dns-01', 'http-01'),
    signer: fc.nat(2),
    namespace: fc.nat(2),
    pick: fc.nat(1000),
  });
  fc.assert(
    fc.property(fc.array(command, { maxLength: 120 }), (commands) => {
      const scheduler = new ChallengeScheduler(3);
      scheduler.limit('s0', 1);
      const waiting = new Map<string, Schedulable>();
      const running = new Map<string, Schedulable>();
      const yielding = new Set<string>();
      let now = 0;
      const start = (): boolean => {
        const started = scheduler.next(now);
        for (const each of started) {
          assert.ok(waiting.delete(each.id), 'started twice, or never added');
          running.set(each.id, each);
        }
        const all = [...running.values()];
        requireLaws(all, scheduler, 3);
        const isHeld = yielding.size > 0;
        if (started.length === 0 && !isHeld) assert.deepEqual(mayStart(waiting, all), []);
        return started.length > 0;
      };
      const remove = (id: string): void => {
        scheduler.remove(id);
        waiting.delete(id);
        running.delete(id);
        yielding.delete(id);
      };
      for (const [index, command_] of commands.entries()) {
        const { what, order, name, type, signer, namespace, pick } = command_;
        now += 20 * 60_000;
        if (what === 'add') {
          // One Order has one signer and one namespace.
          const made = challenge(index, {
            order: `${namespace}-${signer}-${order}`,
            namespace: `t${namespace}`,
            name: `n${name}`,
            type,
            signer: `s${signer}`,
          });
          waiting.set(made.id, made);
          scheduler.add(made);
        } else if (what === 'next') start();
        else if (what === 'yields') {
          for (const id of scheduler.yields(now)) {
            assert.ok(running.has(id) && waiting.size > 0, 'one yields to nothing');
            yielding.add(id);
          }
        } else {
          const all = [...waiting.keys(), ...running.keys()];
          remove(all[pick % Math.max(all.length, 1)] ?? 'none');
        }
      }
      // Everything gets its turn.
      for (const id of yielding) remove(id);
      while (start() || running.size > 0) {
        const [id = ''] = running.keys();
        remove(id);
      }
      assert.deepEqual([...waiting.keys()], []);
      assert.equal(scheduler.used, 0);
      assert.equal(scheduler.wakeAt(now), undefined);
    }),
    { numRuns: 2000 },
  );
});

type All = ReadonlyMap<string, Schedulable>;

/**
 * What could start, by looking at everything: nothing may be left of it where the scheduler starts
 * nothing.
 */
function mayStart(waiting: All, running: readonly Schedulable[]): readonly string[] {
  if (running.length >= 3) return [];
  const holder = new Map(running.map(({ type, name, order }) => [`${type} ${name}`, order]));
  const ofSmall = running.filter(({ signer }) => signer === 's0');
  return [...waiting.values()]
    .filter(({ type, name, order }) => (holder.get(`${type} ${name}`) ?? order) === order)
    .filter(({ signer }) => signer !== 's0' || ofSmall.length === 0)
    .map(({ id }) => id);
}

function requireLaws(
  running: readonly Schedulable[],
  scheduler: ChallengeScheduler,
  slots: number,
): void {
  const holders = new Map<string, string>();
  for (const { name, type, order } of running) {
    const key = `${type} ${name}`;
    assert.equal(holders.get(key) ?? order, order, 'two Orders run one name and type');
    holders.set(key, order);
  }
  assert.equal(running.length, scheduler.used);
  assert.ok(running.length <= slots);
  assert.ok(running.filter(({ signer }) => signer === 's0').length <= 1);
}

interface Simulated {
  readonly longestWait: number;
  readonly stepsADecision: number;
  readonly done: number;
}

/**
 * A queue of challenges on a virtual clock, in arrival order, where each takes its time once it
 * runs.
 */
function simulate(count: number): Simulated {
  let steps = 0;
  let decisions = 0;
  const scheduler = new ChallengeScheduler(SLOTS, () => {
    steps += 1;
  });
  scheduler.limit('s3', 5);
  const endsAt = new Map<string, number>();
  const running = new Map<string, Schedulable>();
  const holders = new Map<string, string>();
  let now = 0;
  let done = 0;
  let longestWait = 0;
  // Repeatable, and unlike any order of arrival.
  const random = (index: number, most: number): number => (index * 2_654_435_761) % most;
  for (let index = 0; index < count; index += 1) {
    // One name in ten is hot; one Order in four is a wildcard with its base name.
    const hot = random(index, 10) === 0;
    scheduler.add(
      challenge(index, {
        order: `o${index - (index % 4 === 1 ? 1 : 0)}`,
        name: `n${hot ? random(index, 50) : index - (index % 4 === 1 ? 1 : 0)}`,
        type: index % 3 === 0 ? 'http-01' : 'dns-01',
        signer: `s${Math.floor(index / 4) % 4}`,
        namespace: `t${Math.floor(index / 4) % 20}`,
      }),
    );
  }
  const fill = (): void => {
    for (;;) {
      decisions += 1;
      const started = scheduler.next(0);
      if (started.length === 0) return;
      for (const each of started) {
        assert.ok(scheduler.used <= SLOTS);
        const pair = `${each.type} ${each.name}`;
        if ((holders.get(pair) ?? each.order) !== each.order) throw new Error(`two run ${pair}`);
        holders.set(pair, each.order);
        running.set(each.id, each);
        endsAt.set(each.id, now + 1 + random(each.createdAt, 20));
        longestWait = Math.max(longestWait, now);
      }
    }
  };
  fill();
  while (running.size > 0) {
    now = Math.min(...endsAt.values());
    for (const [id, at] of endsAt) {
      if (at > now) continue;
      endsAt.delete(id);
      const ended = running.get(id);
      if (ended !== undefined) holders.delete(`${ended.type} ${ended.name}`);
      running.delete(id);
      scheduler.remove(id);
      done += 1;
    }
    fill();
  }
  return { longestWait, stepsADecision: steps / decisions, done };
}

test('100,000 challenges keep all limits, none starves, and decisions cost no more', (t) => {
  const small = simulate(1000);
  const large = simulate(100_000);
  assert.deepEqual([small.done, large.done], [1000, 100_000]);
  t.diagnostic(
    `longest wait ${large.longestWait} s of virtual time; ${large.stepsADecision.toFixed(1)} comparisons a decision, ${small.stepsADecision.toFixed(1)} with 1,000`,
  );
  // A hundred times as many challenges add the heap's logarithm.
  assert.ok(large.stepsADecision <= 2.5 * small.stepsADecision);
});
