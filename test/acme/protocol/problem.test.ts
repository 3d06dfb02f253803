// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readProblem } from '#acme/protocol/problem.ts';

const type = (name: string): string => `urn:ietf:params:acme:error:${name}`;

test('types of RFC 8555 are named, all others are `other`, and no document is `none`', () => {
  assert.equal(readProblem({ type: type('rateLimited') }).type, 'rateLimited');
  assert.equal(readProblem({ type: type('constructor') }).type, 'other');
  assert.equal(readProblem({ type: 'https://ca.example/errors/1' }).type, 'other');
  for (const value of [undefined, null, 'x', 3, [], { type: 3 }, { type: 'about:blank' }])
    assert.equal(readProblem(value).type, 'none', JSON.stringify(value));
});

test('two equal errors have equal texts, whatever ids the server gave their requests', () => {
  const details: readonly ((id: string) => string)[] = [
    (id) => `too many requests (request id: ${id}), try later`,
    (id) => `internal error, RequestID=${id}`,
    (id) => `JWS has an invalid anti-replay nonce: "${id}"`,
    (id) => `service busy; trace-id: ${id}; see docs`,
  ];
  const ids = fc.string({
    unit: fc.constantFrom('0', '7', 'a', 'f', 'X', 'Z', '-', '_'),
    minLength: 8,
    maxLength: 40,
  });
  const uuids = fc.tuple(fc.uuid(), fc.uuid());
  for (const detail of details) {
    const shown = (id: string): string => readProblem({ detail: detail(id) }).detail;
    fc.assert(fc.property(ids, ids, (a, b) => assert.equal(shown(a), shown(b))));
  }
  fc.assert(
    fc.property(uuids, ([a, b]) =>
      assert.deepEqual(
        readProblem({ detail: `failed (${a}): no luck` }),
        readProblem({ detail: `failed (${b}): no luck` }),
      ),
    ),
  );
});

test('names, numbers and addresses in a problem stay', () => {
  const detail =
    'DNS problem: NXDOMAIN looking up TXT for _acme-challenge.very-long-name-of-a-host-2026.example.com from 192.0.2.1: see https://letsencrypt.org/docs/rate-limits/';
  assert.equal(readProblem({ detail }).detail, JSON.stringify(detail));
});

test('whatever a server writes, what is shown is short, on one line and quoted', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (detail) => {
      const { detail: shown, subproblems } = readProblem({
        detail,
        subproblems: Array.from({ length: 12 }, () => ({ detail, identifier: { value: detail } })),
      });
      for (const text of [shown, ...subproblems.map((each) => each.detail)]) {
        assert.ok(text.length < 10_000 && !/[\p{Cc}\p{Cf}]/u.test(text));
        assert.ok(text === '' || (text.startsWith('"') && text.endsWith('"')), text);
      }
      assert.ok(subproblems.length <= 10);
    }),
    { numRuns: 30 },
  );
});

test('no document makes it slow: a megabyte is cut before it is searched', () => {
  const detail = `request id${' '.repeat(1_000_000)}`;
  assert.ok(readProblem({ detail }).detail.length <= 410);
});
