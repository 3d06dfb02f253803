// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileExpression } from '#cel/compile.ts';
import { REQUEST, selfOf, type Environment } from '#cel/environments.ts';
import { POD } from '../support/cel/pod-environment.ts';
import { request } from './request.ts';

function bool(source: string, environment: Environment = REQUEST): (variables: object) => boolean {
  const where = 'spec.requests.rules[0].when';
  const compiled = compileExpression({ source, where, environment, result: 'bool' });
  return (variables) => compiled.evaluate(variables as Readonly<Record<string, unknown>>);
}

const INVALID = [
  ['a name that nobody declared', 'reqest.username == "a"', 1, 1, 'Unknown variable: reqest'],
  ['a field that does not exist', 'csr.subject.comonName == "a"', 1, 13, 'No such key: comonName'],
  ['a field that has() asks for', 'has(csr.dnsName)', 1, 9, 'No such key: dnsName'],
  ['bad syntax', 'request.username ==', 1, 20, 'Unexpected token: EOF'],
  ['bad syntax in the third line', 'true &&\n\n  ( true', 3, 9, 'Expected RPAREN, got EOF'],
  [
    'an expression that gives no bool',
    'request.username',
    1,
    1,
    'returns string; it must return bool',
  ],
  ['a text compared with a number', 'csr.key.size == "1"', 1, 1, 'no such overload: int == string'],
  [
    'a text searched in a text',
    '"a" in request.username',
    1,
    1,
    'no such overload: string in string',
  ],
  ['a list of mixed types', '"a" in [request.name, 1]', 1, 8, 'the type is unknown (dyn)'],
  ['dyn()', 'dyn(request.name) == 1', 1, 1, 'function "dyn" is not available'],
  [
    'a function of the library alone',
    'timestamp("x") == timestamp("y")',
    1,
    1,
    '"timestamp" is not available',
  ],
  ['cel.bind', 'cel.bind(x, 1, x == 1)', 1, 1, 'function "bind" is not available'],
  [
    'a loop that hides a variable',
    'csr.dnsNames.all(csr, csr == "")',
    1,
    18,
    '"csr" is already the name of a variable',
  ],
  [
    'a loop that hides a namespace',
    '["a"].all(sets, sets.contains("a"))',
    1,
    11,
    '"sets" is already the name of a variable',
  ],
  [
    'a computed pattern',
    'request.name.matches(request.uid)',
    1,
    30,
    'the pattern of matches() must be a string literal',
  ],
  [
    'a pattern that is not RE2',
    'request.name.matches("(?=a)")',
    1,
    22,
    'cannot use the RE2 pattern "(?=a)": ',
  ],
  ['a field by index', 'csr["dnsNames"].size() == 1', 1, 1, '[ ] works on lists and maps only'],
  ['uint keys of a map', '1u in {1u: true}', 1, 7, 'keys of a map cannot be of type uint'],
  [
    'addresses as keys of a map',
    "ip('10.0.0.1') in {ip('10.0.0.1'): true}",
    1,
    19,
    'keys of a map cannot be of type net.IP',
  ],
  [
    'lists as keys of a map',
    '[1] in {[1]: true}',
    1,
    8,
    'keys of a map cannot be of type list<int>',
  ],
] as const;

for (const [what, source, line, column, words] of INVALID) {
  test(`compiling refuses ${what}, and the error has its position and name`, () => {
    assert.throws(
      () => bool(source),
      (error: Error & { code?: string; disposition?: string }) => {
        assert.equal(error.code, 'CEL_INVALID');
        assert.equal(error.disposition, 'wait');
        const place = `spec.requests.rules[0].when: line ${line}, column ${column}: `;
        assert.equal(error.message.slice(0, place.length), place, error.message);
        assert.ok(error.message.includes(words), error.message);
        return true;
      },
    );
  });
}

test('the documented expressions compile and give the documented results', () => {
  const variables = request({ username: 'alice', groups: ['dev'], commonName: 'alice' });
  assert.equal(bool('request.username == csr.subject.commonName')(variables), true);
  assert.equal(bool("request.username.startsWith('robot:')")(variables), false);
  assert.equal(
    bool('self in request.groups', selfOf('dnsNames'))({ ...variables, self: 'dev' }),
    true,
  );
  assert.equal(
    bool('self in request.groups', selfOf('dnsNames'))({ ...variables, self: 'Dev' }),
    false,
  );
  assert.equal(bool('csr.key.size >= 256 && request.expirationSeconds < 3601')(variables), true);
  assert.equal(bool("'a' in request.extra['scopes']")(variables), true);
  assert.equal(bool('has(request.extra.scopes) && !has(request.extra.team)')(variables), true);
});

test('an expression for a name returns a string', () => {
  const uri = compileExpression({
    source: "'spiffe://cluster.local/ns/' + pod.namespace + '/sa/' + pod.serviceAccount",
    where: 'spec.pods.uris[0]',
    environment: POD,
    result: 'string',
  });
  const pod = {
    namespace: 'a',
    name: 'p',
    uid: 'u',
    serviceAccount: 'b',
    serviceAccountUID: 'u',
    node: 'n',
    nodeUID: 'u',
    annotations: {},
  };
  assert.equal(uri.evaluate({ pod }), 'spiffe://cluster.local/ns/a/sa/b');
});

test('a failed evaluation is an error and never false', () => {
  const failing = [
    "request.extra['team'][0] == 'a'",
    "csr.dnsNames[7] == 'a'",
    '1 / (csr.key.size - 256) == 1',
    "int('') == 0",
    'ip(request.username).family() == 4',
    "!(request.extra['team'][0] == 'a')",
    "csr.dnsNames.exists(n, request.extra['team'][0] == n)",
    "request.username.substring(9) == ''",
  ];
  for (const source of failing) {
    assert.throws(
      () => bool(source)(request({ username: 'alice', dnsNames: ['a'] })),
      {
        code: 'CEL_EVALUATION',
        disposition: 'wait',
        message: /^spec\.requests\.rules\[0\]\.when: /,
      },
      source,
    );
  }
});

test('an error next to an operand that decides the result is ignored, as in CEL', () => {
  const variables = request({ username: 'alice' });
  assert.equal(bool("request.extra['x'][0] == 'a' || true")(variables), true);
  assert.equal(bool("request.extra['x'][0] == 'a' && false")(variables), false);
});

test('a missing, mistyped or oversized value is an error, not an empty value', () => {
  const check = bool('csr.dnsNames.all(n, n == "a")');
  const good = request({});
  const bad = [
    [{ ...good, csr: { ...good.csr, dnsNames: undefined } }, 'csr.dnsNames is not a list'],
    [{ ...good, csr: { ...good.csr, dnsNames: [1] } }, 'csr.dnsNames[0] is not a string'],
    [
      request({ dnsNames: Array<string>(101).fill('a') }),
      'csr.dnsNames is of size 101, above the limit',
    ],
    [request({ dnsNames: ['a'.repeat(257)] }), 'csr.dnsNames[0] is of size 257, above the limit'],
    [{ ...good, request: undefined }, 'request is missing'],
    [
      { ...good, csr: { ...good.csr, key: { type: 'RSA', size: 1.5 } } },
      'csr.key.size is not an integer',
    ],
  ] as const;
  for (const [variables, message] of bad) {
    assert.throws(
      () => check(variables),
      (error: Error & { code?: string }) =>
        error.code === 'CEL_EVALUATION' && error.message.startsWith(message),
      message,
    );
  }
});

test('map keys never reach properties of a JavaScript object', () => {
  const variables = request({});
  for (const key of ['constructor', '__proto__', 'toString']) {
    assert.equal(bool(`'${key}' in request.extra`)(variables), false, key);
    assert.throws(() => bool(`request.extra['${key}'].size() > 0`)(variables), {
      code: 'CEL_EVALUATION',
    });
  }
});
