// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cookieNamed, HEADERS, rejectionOf } from '#console/server/guard.ts';

const POLICY = HEADERS['content-security-policy'] ?? '';
const OWN = '127.0.0.1:4000';
const PATH = '/p/act';
const READS = { authority: OWN, forms: [] };
const ACTS = { authority: OWN, forms: [PATH] };

const ROWS: readonly [what: string, headers: Record<string, string>, status: number | undefined][] =
  [
    ['an address that a person typed', { host: OWN, 'sec-fetch-site': 'none' }, undefined],
    ['a link of its own page', { host: OWN, 'sec-fetch-site': 'same-origin' }, undefined],
    ['a program without those headers', { host: OWN }, undefined],
    ['its own origin', { host: OWN, origin: `http://${OWN}` }, undefined],
    ['a name that was rebound', { host: 'evil.example:4000' }, 421],
    ['localhost', { host: 'localhost:4000' }, 421],
    ['another port', { host: '127.0.0.1:4001' }, 421],
    ['no host', {}, 421],
    ['another origin', { host: OWN, origin: 'https://evil.example' }, 403],
    ['the origin null', { host: OWN, origin: 'null' }, 403],
    ['its origin over TLS', { host: OWN, origin: `https://${OWN}` }, 403],
    ['a link of another site', { host: OWN, 'sec-fetch-site': 'cross-site' }, 403],
    ['another port of this machine', { host: OWN, 'sec-fetch-site': 'same-site' }, 403],
  ];

for (const [what, headers, status] of ROWS) {
  test(`${what}: ${status === undefined ? 'passes' : `is rejected with ${status}`}`, () => {
    assert.equal(rejectionOf({ method: 'GET', path: PATH, headers }, READS)?.status, status);
  });
}

for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])
  test(`${method} is rejected: nothing is written`, () => {
    const headers = { host: OWN, origin: `http://${OWN}` };
    assert.equal(rejectionOf({ method, path: PATH, headers }, READS)?.status, 405);
    if (method === 'POST') return;
    assert.equal(rejectionOf({ method, path: PATH, headers }, ACTS)?.status, 405);
  });

const FORMS: readonly [
  what: string,
  headers: Record<string, string>,
  status: number | undefined,
][] = [
  [
    'a form of its own page',
    { origin: `http://${OWN}`, 'sec-fetch-site': 'same-origin' },
    undefined,
  ],
  ['a form of an old browser', { origin: `http://${OWN}` }, undefined],
  ['a form without an origin', { 'sec-fetch-site': 'same-origin' }, 403],
  ['a form of another origin', { origin: 'https://evil.example' }, 403],
  ['a form of a page without an origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
  [
    'a form of another port',
    { origin: 'http://127.0.0.1:4001', 'sec-fetch-site': 'same-site' },
    403,
  ],
  ['a form of another site', { origin: `http://${OWN}`, 'sec-fetch-site': 'cross-site' }, 403],
  ['a form that no page sent', { origin: `http://${OWN}`, 'sec-fetch-site': 'none' }, 403],
];

for (const [what, more, status] of FORMS)
  test(`${what}: ${status === undefined ? 'passes' : `is rejected with ${status}`}`, () => {
    const headers = { host: OWN, ...more };
    assert.equal(rejectionOf({ method: 'POST', path: PATH, headers }, ACTS)?.status, status);
    const elsewhere = rejectionOf({ method: 'POST', path: '/p/overview', headers }, ACTS);
    assert.match(`${elsewhere?.status}`, /403|405/);
  });

test('a rejection names the header that caused it', () => {
  const site = { host: OWN, 'sec-fetch-site': 'cross-site' };
  assert.match(
    rejectionOf({ method: 'GET', path: PATH, headers: site }, READS)?.why ?? '',
    /Sec-Fetch-Site/,
  );
  const origin = { host: OWN, origin: 'null' };
  assert.match(
    rejectionOf({ method: 'GET', path: PATH, headers: origin }, READS)?.why ?? '',
    /Origin/,
  );
});

test('the policy allows nothing from elsewhere, nothing inline, and no frame', () => {
  assert.doesNotMatch(POLICY, /unsafe|https?:|\*|data:|blob:/);
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "trusted-types 'none'"])
    assert.ok(POLICY.split('; ').includes(part), part);
  assert.match(POLICY, /require-trusted-types-for 'script'/);
  assert.equal(HEADERS['cache-control'], 'no-store');
});

test('a cookie is found by its whole name', () => {
  assert.equal(cookieNamed('a', 'ba=1; a=2; aa=3'), '2');
  assert.equal(cookieNamed('a', undefined), undefined);
});
