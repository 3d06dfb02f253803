// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LETS_ENCRYPT, OrderBudgets, type WantedShare } from '#acme/orders/turns/budgets.ts';
import { registeredDomain } from '#acme/orders/registered-domain.ts';

const HOUR = 3_600_000;
/** Account and namespace of an order that the CA limits. */
const CI = { account: 'a', namespace: 'ci' };

function wanted(id: number, more: Partial<WantedShare> = {}): WantedShare {
  return {
    id: `o${id}`,
    namespace: 'team',
    account: 'a',
    names: [`www.n${id}.example`],
    of: 'order',
    isRenewal: false,
    isExempt: false,
    createdAt: id,
    ...more,
  };
}

function admitted(budgets: OrderBudgets, now: number): readonly string[] {
  const found: string[] = [];
  for (let order = budgets.next(now); order !== undefined; order = budgets.next(now))
    found.push(order.id);
  return found;
}

test('names count by registered domain, including the PSL’s private suffixes', () => {
  for (const [name, domain] of [
    ['a.b.example.com', 'example.com'],
    ['*.example.co.uk', 'example.co.uk'],
    ['x.user.github.io', 'user.github.io'],
    ['WWW.Example.COM', 'example.com'],
    ['xn--bcher-kva.example.de', 'example.de'],
    ['com', 'com'],
    ['localhost', 'localhost'],
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ])
    assert.equal(registeredDomain(name ?? ''), domain, name);
});

test('an account makes its burst of orders at once, and then one at a time', () => {
  const budgets = new OrderBudgets(() => ({ orders: { burst: 3, everyMs: 1000 } }));
  for (let id = 0; id < 6; id += 1) budgets.add(wanted(id));
  assert.deepEqual(admitted(budgets, 0), ['o0', 'o1', 'o2']);
  assert.equal(budgets.wakeAt(), 1000);
  assert.deepEqual(admitted(budgets, 999), []);
  assert.deepEqual(admitted(budgets, 1000), ['o3']);
  assert.deepEqual(admitted(budgets, 3000), ['o4', 'o5']);
  assert.equal(budgets.wakeAt(), undefined);
});

test('renewals of a namespace come before its new names, also when they come later', () => {
  const budgets = new OrderBudgets(() => ({ orders: { burst: 1, everyMs: 1000 } }));
  for (const id of [1, 2]) budgets.add(wanted(id));
  assert.deepEqual(admitted(budgets, 0), ['o1']);
  budgets.add(wanted(3, { isRenewal: true }));
  assert.deepEqual(admitted(budgets, 1000), ['o3']);
  assert.deepEqual(admitted(budgets, 2000), ['o2']);
  // One that waits already is not passed by one that comes in the moment of its token.
  budgets.add(wanted(4, { isRenewal: true }));
  assert.deepEqual(admitted(budgets, 2999), []);
  budgets.add(wanted(5));
  assert.deepEqual(admitted(budgets, 3000), ['o4']);
});

test('a domain whose budget is spent holds up no other', () => {
  const domain = { burst: 1, everyMs: HOUR };
  const budgets = new OrderBudgets(() => ({ domain }));
  const names = ['a.busy.example', 'b.busy.example'];
  const of = 'certificate';
  for (const id of [1, 2]) budgets.add(wanted(id, { names, of }));
  budgets.add(wanted(3, { of }));
  assert.deepEqual(admitted(budgets, 0), ['o1', 'o3']);
  assert.deepEqual(admitted(budgets, HOUR), ['o2']);
});

test('Retry-After stops all orders of its account to the millisecond, and no other’s', () => {
  const budgets = new OrderBudgets(() => ({}));
  budgets.pause('a', 90_000);
  budgets.add(wanted(1, { isExempt: true }));
  budgets.add(wanted(2, { account: 'b' }));
  assert.deepEqual(admitted(budgets, 0), ['o2']);
  assert.equal(budgets.wakeAt(), 90_000);
  assert.deepEqual(admitted(budgets, 89_999), []);
  assert.deepEqual(admitted(budgets, 90_000), ['o1']);
});

test('after a limit, orders try one at a time, each after twice the wait', () => {
  const budgets = new OrderBudgets(() => ({}));
  budgets.limit(CI, 40 * HOUR, 0);
  for (let id = 0; id < 20; id += 1) budgets.add(wanted(id, { names: [`n${id}.example`] }));
  budgets.add(wanted(99, { account: 'b' }));
  const tries: number[] = [];
  for (let now = 0; now < HOUR; now += 1000) {
    const found = admitted(budgets, now).filter((id) => id !== 'o99');
    assert.ok(found.length <= 1);
    for (const _each of found) {
      tries.push(now / 1000);
      budgets.limit(CI, now + 40 * HOUR, now);
    }
  }
  // 1 s, doubling up to ten minutes: a server that limits all orders gets six an hour.
  assert.deepEqual(tries, [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 1623, 2223, 2823, 3423]);
});

test('an order that passes lets the next one of its account try at once', () => {
  const budgets = new OrderBudgets(() => ({}));
  budgets.limit(CI, 40 * HOUR, 0);
  for (let id = 0; id < 4; id += 1) budgets.add(wanted(id));
  assert.deepEqual(admitted(budgets, 999), []);
  assert.deepEqual(admitted(budgets, 1000), ['o0']);
  budgets.pass('a');
  assert.deepEqual(admitted(budgets, 1001), ['o1']);
  budgets.pass('a');
  budgets.remove('o3');
  assert.deepEqual(admitted(budgets, 1002), ['o2']);
  budgets.pass('a');
  for (const id of [4, 5, 6]) budgets.add(wanted(id));
  assert.deepEqual(admitted(budgets, 1003), ['o4', 'o5', 'o6']);
});

test('the namespace that is limited delays each other one by one attempt', () => {
  const budgets = new OrderBudgets(() => ({}));
  budgets.limit(CI, 40 * HOUR, 0);
  for (let id = 0; id < 5; id += 1) budgets.add(wanted(id, { namespace: 'limited' }));
  for (const id of [5, 6]) budgets.add(wanted(id, { namespace: `other${id}` }));
  const order: string[] = [];
  for (let now = 0; order.length < 7; now += 1000) {
    for (const id of admitted(budgets, now)) {
      order.push(id);
      if (id === 'o5' || id === 'o6') budgets.pass('a');
      else budgets.limit(CI, now + 40 * HOUR, now);
    }
  }
  assert.deepEqual(order.slice(0, 3), ['o0', 'o5', 'o6']);
});

test('limited namespaces delay one whose orders pass by one attempt each time', () => {
  const budgets = new OrderBudgets(() => ({}));
  const limited = Array.from({ length: 5 }, (_each, id) => wanted(id, { namespace: `ci${id}` }));
  for (const each of limited) budgets.limit(each, 40 * HOUR, 0);
  for (const each of limited) budgets.add(each);
  for (let id = 5; id < 25; id += 1) {
    // An order of the team comes when the CA has limited the attempt of another namespace.
    const now = id * HOUR;
    const [tried] = admitted(budgets, now);
    const other = limited.find((each) => each.id === tried) ?? assert.fail();
    budgets.limit(other, 40 * HOUR, now);
    budgets.add(other);
    budgets.add(wanted(id));
    assert.deepEqual(admitted(budgets, now), []);
    assert.deepEqual(admitted(budgets, now + HOUR / 2), [`o${id}`]);
    budgets.pass('a');
  }
});

test('an order that comes as the wait after a limit ends takes no other’s turn', () => {
  const budgets = new OrderBudgets(() => ({}));
  const retried = wanted(0, { namespace: CI.namespace });
  budgets.limit(CI, 40 * HOUR, 0);
  budgets.add(wanted(1));
  assert.deepEqual(admitted(budgets, 999), []);
  budgets.add(retried);
  assert.deepEqual(admitted(budgets, 1000), ['o1']);
  budgets.pass('a');
  assert.deepEqual(admitted(budgets, 1000), ['o0']);
});

test('after a limit, a flood of orders that pass delays no other without end', () => {
  const budgets = new OrderBudgets(() => ({}));
  budgets.limit(CI, 40 * HOUR, 0);
  for (let id = 0; id < 1100; id += 1) budgets.add(wanted(id, { namespace: 'flood' }));
  budgets.add(wanted(1100));
  budgets.add(wanted(1101, { namespace: CI.namespace }));
  const order: string[] = [];
  while (order.length < 1102) {
    order.push(...admitted(budgets, HOUR));
    budgets.pass('a');
  }
  assert.deepEqual(order.slice(0, 3), ['o0', 'o1100', 'o1']);
  assert.ok(order.indexOf('o1101') < 1010, `${order.indexOf('o1101')}`);
});

test('equal names at their limit get no order and delay no others', () => {
  const equalNames = { burst: 2, everyMs: HOUR };
  const budgets = new OrderBudgets(() => ({ equalNames }));
  const names = ['a.example', '*.a.example'];
  const of = 'certificate';
  budgets.count(wanted(1, { names, of }), 0);
  budgets.count(wanted(2, { names: ['*.A.example', 'a.example'], of, account: 'b' }), 0);
  budgets.add(wanted(3, { names }));
  budgets.add(wanted(4, { names: ['a.example'] }));
  budgets.add(wanted(5, { names, isExempt: true }));
  assert.deepEqual(admitted(budgets, 0), ['o4', 'o5']);
  assert.equal(budgets.wakeAt(), HOUR);
  // An order takes no share of them, a certificate does.
  assert.deepEqual(admitted(budgets, HOUR), ['o3']);
  budgets.add(wanted(3, { names, of }));
  budgets.add(wanted(6, { names, of }));
  assert.deepEqual(admitted(budgets, HOUR), ['o3']);
});

test('renewals that the CA exempts take no namespace’s share', () => {
  const budgets = new OrderBudgets(() => ({ orders: { burst: 1, everyMs: HOUR } }));
  for (const id of [1, 2, 3]) budgets.add(wanted(id, { isExempt: true, isRenewal: true }));
  budgets.add(wanted(4));
  assert.deepEqual(admitted(budgets, 0), ['o1', 'o2', 'o3', 'o4']);
});

test('an order that is removed is not made', () => {
  const budgets = new OrderBudgets(() => ({ orders: { burst: 1, everyMs: 1000 } }));
  for (const id of [1, 2, 3]) budgets.add(wanted(id));
  budgets.remove('o1');
  assert.deepEqual(admitted(budgets, 0), ['o2']);
  budgets.remove('o3');
  assert.equal(budgets.wakeAt(), undefined);
});

test('no budget is exceeded, all orders are made, and renewals go before new names', () => {
  const order = fc.record({
    at: fc.nat(8),
    domains: fc.array(fc.nat(3), { minLength: 1, maxLength: 2 }),
    isRenewal: fc.boolean(),
    of: fc.constantFrom('order', 'certificate'),
    namespace: fc.nat(2),
  });
  const rates = { orders: { burst: 3, everyMs: 2 }, domain: { burst: 2, everyMs: 5 } };
  fc.assert(
    fc.property(fc.array(order, { maxLength: 40 }), (orders) => {
      const budgets = new OrderBudgets(() => rates);
      const made: { readonly at: number; readonly order: WantedShare }[] = [];
      const waiting = new Set<WantedShare>();
      for (let now = 0; now < 1000; now += 1) {
        for (const [index, { at, domains, isRenewal, of, namespace }] of orders.entries()) {
          if (at !== now) continue;
          const names = domains.map((each) => `d${each}.example`);
          const one = wanted(index, { names, isRenewal, of, namespace: `t${namespace}` });
          waiting.add(one);
          budgets.add(one);
        }
        for (let next = budgets.next(now); next !== undefined; next = budgets.next(now)) {
          waiting.delete(next);
          made.push({ at: now, order: next });
          const { names } = next;
          const better = [...waiting].filter(
            (each) =>
              each.isRenewal &&
              each.of === next.of &&
              each.namespace === next.namespace &&
              each.names.every((name) => names.includes(name)),
          );
          assert.ok(next.isRenewal || better.length === 0, 'a renewal of the same was passed over');
        }
      }
      assert.equal(waiting.size, 0);
      requireRate(
        made.filter(({ order }) => order.of === 'order').map(({ at }) => at),
        rates.orders,
      );
      for (const domain of ['d0.example', 'd1.example', 'd2.example', 'd3.example']) {
        const of = made.filter(
          ({ order }) => order.of === 'certificate' && order.names.includes(domain),
        );
        requireRate(
          of.map(({ at }) => at),
          rates.domain,
        );
      }
    }),
    { numRuns: 200 },
  );
});

/** In no window more than the burst and what came back within it. */
function requireRate(
  at: readonly number[],
  { burst, everyMs }: { burst: number; everyMs: number },
): void {
  for (const [first, start] of at.entries())
    for (let last = first; last < at.length; last += 1)
      assert.ok(last - first + 1 <= burst + ((at[last] ?? 0) - start) / everyMs, at.join(', '));
}

test('20,000 orders under Let’s Encrypt’s limits: the work of a decision does not grow', (t) => {
  const perDecision = [1000, 20_000].map((count) => {
    let steps = 0;
    const budgets = new OrderBudgets(
      () => LETS_ENCRYPT,
      () => {
        steps += 1;
      },
    );
    for (let id = 0; id < count; id += 1) {
      const isRenewal = id % 3 === 0;
      budgets.add(wanted(id, { names: [`h${id}.d${id % 400}.example`], isRenewal }));
    }
    let made = 0;
    for (let now = 0; made < count; now = Math.max(now + 1, budgets.wakeAt() ?? now))
      made += admitted(budgets, now).length;
    return steps / count;
  });
  const [small = 0, large = 0] = perDecision;
  t.diagnostic(
    `${small.toFixed(1)} comparisons an order with 1,000, ${large.toFixed(1)} with 20,000`,
  );
  assert.ok(large <= 2 * small);
});

test('orders that are never proved take nothing of the budget of their domain', () => {
  const budgets = new OrderBudgets(() => LETS_ENCRYPT);
  const names = ['www.team.example'];
  for (let id = 0; id < 200; id += 1)
    budgets.add(wanted(id, { namespace: `evil-${id}`, account: `evil-${id}`, names }));
  assert.equal(admitted(budgets, 0).length, 200);
  budgets.add(wanted(200, { namespace: 'team', names }));
  budgets.add(wanted(201, { namespace: 'team', names, of: 'certificate' }));
  assert.deepEqual(admitted(budgets, 0), ['o200', 'o201']);
});

test('a domain’s share is reserved before finalize and returned if nothing was issued', () => {
  const domain = { burst: 2, everyMs: HOUR };
  const budgets = new OrderBudgets(() => ({ domain }));
  const one = (id: number) => wanted(id, { names: ['a.busy.example'], of: 'certificate' });
  for (const id of [1, 2, 3]) budgets.add(one(id));
  assert.deepEqual(admitted(budgets, 0), ['o1', 'o2']);
  budgets.giveBack(one(1), 1000);
  assert.deepEqual(admitted(budgets, 1000), ['o3']);
  // What was given back twice over is no more than the CA allows.
  budgets.giveBack(one(2), 2000);
  for (let id = 0; id < 9; id += 1) budgets.giveBack(one(3), 2000);
  for (const id of [4, 5, 6]) budgets.add(one(id));
  assert.deepEqual(admitted(budgets, 2000), ['o4', 'o5']);
});

for (const kind of ['order', 'certificate'] as const) {
  test(`hundreds of namespaces at a budget delay another by one round: ${kind}`, () => {
    const rate = { burst: 1, everyMs: 1000 };
    const budgets = new OrderBudgets(() => ({ orders: rate, domain: rate }));
    const names = ['a.team.example'];
    let id = 0;
    for (let namespace = 0; namespace < 300; namespace += 1)
      for (let each = 0; each < 10; each += 1)
        budgets.add(
          wanted((id += 1), { namespace: `evil-${namespace}`, names, of: kind, isRenewal: true }),
        );
    budgets.add(wanted((id += 1), { namespace: 'team', names, of: kind }));
    budgets.add(wanted((id += 1), { namespace: 'team', names, of: kind }));
    const made: string[] = [];
    for (let now = 0; made.length < 602; now += 1000) made.push(...admitted(budgets, now));
    assert.ok(made.indexOf(`o${id - 1}`) <= 300, `${made.indexOf(`o${id - 1}`)}`);
    assert.ok(made.indexOf(`o${id}`) <= 601);
  });

  test(`who floods from one namespace delays another by one share: ${kind}`, () => {
    const rate = { burst: 1, everyMs: 1000 };
    const budgets = new OrderBudgets(() => ({ orders: rate, domain: rate }));
    const names = ['a.team.example'];
    for (let id = 0; id < 1000; id += 1)
      budgets.add(wanted(id, { namespace: 'evil', names, of: kind }));
    assert.deepEqual(admitted(budgets, 0), ['o0']);
    budgets.add(wanted(1000, { namespace: 'team', names, of: kind }));
    assert.deepEqual(admitted(budgets, 1000), ['o1000']);
  });
}

test('a name at the limit of failed validations gets no order and delays no other', () => {
  const budgets = new OrderBudgets(() => LETS_ENCRYPT);
  for (let failed = 0; failed < 5; failed += 1)
    assert.equal(budgets.takeValidation('a', 'bad.example', 0), undefined);
  assert.equal(budgets.takeValidation('a', 'bad.example', 0), HOUR / 5);
  // Another account has a count of its own.
  assert.equal(budgets.takeValidation('b', 'bad.example', 0), undefined);
  budgets.add(wanted(1, { names: ['*.bad.example'] }));
  budgets.add(wanted(2));
  assert.deepEqual(admitted(budgets, 0), ['o2']);
  assert.equal(budgets.wakeAt(), HOUR / 5);
  // Orders take no share of it: five wait, and five are made.
  for (const id of [3, 4, 5, 6]) budgets.add(wanted(id, { names: ['bad.example'] }));
  assert.equal(admitted(budgets, HOUR / 5).length, 5);
  // One that was proved gives its share back.
  assert.equal(budgets.takeValidation('a', 'bad.example', HOUR / 5), undefined);
  budgets.countValidation('a', 'bad.example', 1, HOUR / 5);
  assert.equal(budgets.takeValidation('a', 'bad.example', HOUR / 5), undefined);
});
