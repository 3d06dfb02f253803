// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_COST, compileExpression } from '#cel/compile.ts';
import { costOf } from '#cel/cost/cost.ts';
import { REQUEST, selfOf, type Environment } from '#cel/environments.ts';
import { POD } from '../support/cel/pod-environment.ts';
import { libraryOf } from '#cel/library.ts';
import { list, text } from '#cel/cost/shape.ts';
import { REQUEST_FIELDS } from '#base/vocabulary.ts';

/** What `allow.dnsNames` is evaluated in: once for each name. */
const SELF = selfOf('dnsNames');

function compile(source: string, environment: Environment): void {
  compileExpression({ source, where: 'spec.here', environment, result: 'bool' });
}

function cost(source: string, environment: Environment): number {
  const parsed = libraryOf(environment).parse(source);
  assert.equal(parsed.check().valid, true, source);
  return costOf(parsed.ast, environment);
}

const ORDINARY: readonly (readonly [string, Environment])[] = [
  ["pod.namespace.startsWith('team-')", POD],
  ["pod.annotations['example.com/role'].matches('^[a-z]+$')", POD],
  ['request.username == csr.subject.commonName', REQUEST],
  ['csr.subject.organizations.all(o, o in request.groups)', REQUEST],
  ['csr.subject.organizations.all(o, request.groups.exists(g, g == o))', REQUEST],
  ["csr.uris.all(u, url(u).getScheme() == 'spiffe')", REQUEST],
  ['sets.contains(request.groups, csr.subject.organizations)', REQUEST],
  ["request.groups.exists(g, g.startsWith('admin-'))", REQUEST],
  ["self.matches('^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)([.][a-z0-9-]{1,63})*$')", SELF],
  ["cidr('10.0.0.0/8').containsIP(self)", SELF],
  ['request.extra.all(k, request.extra[k].size() > 0)', REQUEST],
  ['csr.uris.all(u, u.contains(request.username))', REQUEST],
  ["self.endsWith('.' + request.username.split(':')[2] + '.svc')", SELF],
];

for (const [source, environment] of ORDINARY) {
  test(`an ordinary rule is within the limit: ${source}`, () => compile(source, environment));
}

test('the usual pattern for SPIFFE IDs is within the limit for every URI of a request', () => {
  const pattern = '^spiffe://example[.]com/ns/[a-z0-9-]{1,63}/sa/[a-z0-9-]{1,253}$';
  compile(`self.matches('${pattern}')`, selfOf('uris'));
});

/** A value as long as an annotation's. */
const VALUE: Environment = { runs: 1, variables: { self: text(4_096) } };

const DEAR: readonly (readonly [string, Environment])[] = [
  ['request.groups.all(a, request.groups.all(b, a != b))', REQUEST],
  ["request.groups.exists(g, self == 'x' + g)", SELF],
  ['csr.dnsNames.all(a, csr.dnsNames.all(b, csr.dnsNames.all(c, a != b + c)))', REQUEST],
  ['csr.uris.map(a, csr.uris.map(b, a + b + a)).size() == 0', REQUEST],
  ["csr.uris.all(u, u.find('a.*b') == '')", REQUEST],
  ["self.findAll('a.*b|a').size() == 0", VALUE],
  // The size must not get lost on the way through a literal, a ternary or a chain of calls.
  ['[csr].all(c, c.uris.all(u, request.groups.all(g, g + g != u)))', REQUEST],
  [
    '(true ? csr : csr).dnsNames.all(a, request.groups.all(g, request.groups.all(h, g != h)))',
    REQUEST,
  ],
  ["csr.uris.join(',').split(',').all(a, request.groups.all(g, a != g))", REQUEST],
  [
    "csr.uris.filter(u, u != '').all(a, request.groups.all(g, request.groups.all(h, g != h)))",
    REQUEST,
  ],
  ['request.extra.all(k, request.extra[k].all(v, request.groups.all(g, g != v)))', REQUEST],
  ["self.replace('', request.username).replace('', request.username).size() > 0", SELF],
  // A literal that is doubled again and again; bytes have a size, too.
  [`[b'${'a'.repeat(500)}']${'.map(a, a + a)'.repeat(18)}.size() > 0`, REQUEST],
  // Nobody looks at all threads of a large program for nothing.
  ["self.find('(?:a?){300}a{300}') == ''", VALUE],
  ["csr.subject.commonName.findAll('(?:a?){300}[^a]|a').size() == 0", REQUEST],
  // Periodic texts are compared again and again, lists as deep as they are.
  ['csr.uris.all(u, u.replace(request.username, csr.keyType) != u)', REQUEST],
  ["csr.uris.join('').lastIndexOf(csr.dnsNames.join('')) < 0", REQUEST],
  [
    'request.extra.all(k, request.extra.all(j, !(request.extra[k] in request.extra.map(i, request.extra[i]))))',
    REQUEST,
  ],
];

for (const [source, environment] of DEAR) {
  test(`a rule that could block the process is refused: ${source}`, () => {
    assert.throws(() => compile(source, environment), {
      code: 'CEL_COST',
      disposition: 'wait',
      message: new RegExp(
        `^spec\\.here: line 1, column \\d+: the worst-case cost is \\d+, more than the limit of ${MAX_COST};`,
      ),
    });
  });
}

test('the error names the most expensive loop', () => {
  const source =
    "request.name == 'a' &&\n  request.groups.all(a,\n    request.groups.all(b, a != b))";
  assert.throws(() => compile(source, REQUEST), { message: /^spec\.here: line [23], column/ });
});

test('the cost is the product of nested loops and the sum of consecutive ones', () => {
  const items = (max: number): Environment => ({ runs: 1, variables: { xs: list(max, text(8)) } });
  const ratio = (source: string): number => cost(source, items(2_000)) / cost(source, items(1_000));
  assert.ok(Math.abs(ratio("xs.all(x, x != 'a')") - 2) < 0.1);
  assert.ok(Math.abs(ratio("xs.all(x, x != 'a') && xs.all(x, x != 'a')") - 2) < 0.1);
  assert.ok(Math.abs(ratio('xs.all(x, xs.all(y, x != y))') - 4) < 0.1);
  assert.ok(Math.abs(ratio('xs.map(x, xs.map(y, x)).all(z, z.all(y, true))') - 4) < 0.1);
});

test('an expression per value costs the maximum number of values in a request', () => {
  const source = "self.matches('a')";
  assert.equal(cost(source, SELF), cost(source, selfOf('commonName')));
  assert.deepEqual(
    REQUEST_FIELDS.filter((field) => selfOf(field).runs === 1),
    ['commonName'],
  );
});

test('text that is too deep or too long is refused before it is type-checked', () => {
  const deep = `${'('.repeat(400)}true${')'.repeat(400)}`;
  assert.throws(() => compile(deep, REQUEST), { code: 'CEL_INVALID', message: /depth|maxDepth/i });
  assert.throws(() => compile(`true${' '.repeat(2_048)}`, REQUEST), {
    code: 'CEL_INVALID',
    message: /has \d+ characters, more than the limit of 2048/,
  });
});

test('the work of an expression grows linearly with its inputs: counted, not timed', () => {
  const uris = (size: number): Environment => ({ runs: 1, variables: { self: text(size) } });
  const linear = ["self.contains('a' + self)", "self.indexOf('b' + self) < 0", 'isQuantity(self)'];
  for (const source of [...linear, "'x' in url(self).getQuery()", 'self.lowerAscii() == self']) {
    const ratio = cost(source, uris(4_000)) / cost(source, uris(2_000));
    assert.ok(ratio > 1.9 && ratio < 2.1, `${source}: ${ratio}`);
  }
});
