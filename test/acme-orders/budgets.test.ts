// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LETS_ENCRYPT, OrderBudgets, type WantedOrder } from '../../src/acme-orders/budgets.ts';
import { registeredDomain } from '../../src/acme-orders/registered-domain.ts';

const HOUR = 3_600_000;

function wanted(id: number, more: Partial<WantedOrder> = {}): WantedOrder {
  return {
    ...{ id: `o${id}`, account: 'a', names: [`www.n${id}.example`], isRenewal: false },
    ...{ isExempt: false, createdAt: id },
    ...more,
  };
}

function admitted(budgets: OrderBudgets, now: number): readonly string[] {
  const found: string[] = [];
  for (let order = budgets.next(now); order !== undefined; order = budgets.next(now))
    found.push(order.id);
  return found;
}

test('names count under the registered domain of the Public Suffix List, its private part included', () => {
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

test('renewals come before new names, also when they come later', () => {
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
  for (const id of [1, 2]) budgets.add(wanted(id, { names }));
  budgets.add(wanted(3));
  assert.deepEqual(admitted(budgets, 0), ['o1', 'o3']);
  assert.deepEqual(admitted(budgets, HOUR), ['o2']);
});

test('Retry-After stops every order of the account, to the millisecond, and of no other', () => {
  const budgets = new OrderBudgets(() => ({}));
  budgets.pause('a', 90_000);
  budgets.add(wanted(1, { isExempt: true }));
  budgets.add(wanted(2, { account: 'b' }));
  assert.deepEqual(admitted(budgets, 0), ['o2']);
  assert.equal(budgets.wakeAt(), 90_000);
  assert.deepEqual(admitted(budgets, 89_999), []);
  assert.deepEqual(admitted(budgets, 90_000), ['o1']);
});

test('renewals that the CA exempts take nobody’s share', () => {
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

test('however orders come, no budget is ever exceeded, all are made, and each renewal before a new name that needs the same', () => {
  const order = fc.record({
    at: fc.nat(8),
    domains: fc.array(fc.nat(3), { minLength: 1, maxLength: 2 }),
    isRenewal: fc.boolean(),
  });
  const rates = { orders: { burst: 3, everyMs: 2 }, domain: { burst: 2, everyMs: 5 } };
  fc.assert(
    fc.property(fc.array(order, { maxLength: 40 }), (orders) => {
      const budgets = new OrderBudgets(() => rates);
      const made: { readonly at: number; readonly order: WantedOrder }[] = [];
      const waiting = new Set<WantedOrder>();
      for (let now = 0; now < 1000; now += 1) {
        for (const [index, { at, domains, isRenewal }] of orders.entries()) {
          if (at !== now) continue;
          const names = domains.map((each) => `d${each}.example`);
          const one = wanted(index, { names, isRenewal });
          waiting.add(one);
          budgets.add(one);
        }
        for (let next = budgets.next(now); next !== undefined; next = budgets.next(now)) {
          waiting.delete(next);
          made.push({ at: now, order: next });
          const { names } = next;
          const better = [...waiting].filter(
            (each) => each.isRenewal && each.names.every((name) => names.includes(name)),
          );
          assert.ok(next.isRenewal || better.length === 0, 'a renewal of the same was passed over');
        }
      }
      assert.equal(waiting.size, 0);
      requireRate(
        made.map(({ at }) => at),
        rates.orders,
      );
      for (const domain of ['d0.example', 'd1.example', 'd2.example', 'd3.example']) {
        const of = made.filter(({ order: { names } }) => names.includes(domain));
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
