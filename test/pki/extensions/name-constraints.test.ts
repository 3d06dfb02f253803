// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeNameConstraints } from '#pki/extensions/name-constraints.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { NOW, ca, link, san } from '../../support/pki/chain.ts';
import {
  explicit,
  extension,
  implicit,
  int,
  seq,
  set,
  type Octets,
} from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';

type Name = readonly [number, string | Octets];

const [EMAIL, DNS, URI, IP] = [1, 2, 6, 7] as const;

const subtrees = (names: readonly Name[]): readonly Uint8Array[] =>
  names.map(([n, base]) => seq(implicit(n, typeof base === 'string' ? Buffer.from(base) : base)));

const constraints = (permitted: readonly Name[], excluded: readonly Name[] = []): Uint8Array =>
  seq(
    ...(permitted.length > 0 ? [explicit(0, ...subtrees(permitted))] : []),
    ...(excluded.length > 0 ? [explicit(1, ...subtrees(excluded))] : []),
  );

function isAllowed(value: Uint8Array, names: readonly Name[]): boolean {
  const root = link('root', { extensions: [ca(), extension('2.5.29.30', value, true)] });
  const leaf = link('leaf', { by: root, extensions: names.length > 0 ? [san(...names)] : [] });
  const verify = (): unknown =>
    verifyPath({
      leaf: leaf.certificate,
      intermediates: [],
      anchors: [root.certificate],
      now: NOW,
    });
  try {
    verify();
    return true;
  } catch {
    refuses(verify, 'PATH_INVALID', /name constraints/, 'authority');
    return false;
  }
}

const NET = [10, 0, 0, 0, 255, 0, 0, 0];
/** 10.0.0.1 mapped into IPv6, and every IPv6 address. */
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1];
const ALL_V6 = new Uint8Array(32);

describe('permitted subtrees', () => {
  const cases: readonly (readonly [string, Name, Name, boolean])[] = [
    ['a host itself', [DNS, 'example.com'], [DNS, 'example.com'], true],
    ['a host below', [DNS, 'example.com'], [DNS, 'a.b.example.com'], true],
    ['a host in other letters', [DNS, 'Example.COM'], [DNS, 'a.eXample.com'], true],
    ['a wildcard below', [DNS, 'example.com'], [DNS, '*.example.com'], true],
    ['a wildcard wider than it', [DNS, 'a.example.com'], [DNS, '*.example.com'], false],
    ['a host that only ends alike', [DNS, 'example.com'], [DNS, 'badexample.com'], false],
    ['the host above', [DNS, 'a.example.com'], [DNS, 'example.com'], false],
    ['a host below a leading dot', [DNS, '.example.com'], [DNS, 'a.example.com'], true],
    ['the host of a leading dot', [DNS, '.example.com'], [DNS, 'example.com'], false],
    ['any host', [DNS, ''], [DNS, 'example.com'], true],
    ['an address in its range', [IP, NET], [IP, [10, 1, 2, 3]], true],
    ['an address outside', [IP, NET], [IP, [11, 1, 2, 3]], false],
    ['an address of the other family', [IP, NET], [IP, new Uint8Array(16)], false],
    ['IPv4 in IPv6 by a range of IPv4', [IP, NET], [IP, MAPPED], false],
    ['IPv4 in IPv6 by a range of IPv6', [IP, ALL_V6], [IP, MAPPED], false],
    ['a URI’s host', [URI, 'example.com'], [URI, 'spiffe://example.com/a'], true],
    ['a URI’s host below', [URI, 'example.com'], [URI, 'spiffe://a.example.com/a'], false],
    ['a URI below a leading dot', [URI, '.example.com'], [URI, 'https://a.example.com:8/'], true],
    ['a URI without a host', [URI, 'example.com'], [URI, 'urn:example:example.com'], false],
    ['a URI with an address', [URI, 'example.com'], [URI, 'https://10.0.0.1/'], false],
    ['a mailbox', [EMAIL, 'a@example.com'], [EMAIL, 'a@EXAMPLE.com'], true],
    ['another mailbox', [EMAIL, 'a@example.com'], [EMAIL, 'A@example.com'], false],
    ['mail at a host', [EMAIL, 'example.com'], [EMAIL, 'b@example.com'], true],
    ['mail at a host below', [EMAIL, 'example.com'], [EMAIL, 'b@a.example.com'], false],
    ['mail below a leading dot', [EMAIL, '.example.com'], [EMAIL, 'b@a.example.com'], true],
    ['a name of another kind', [DNS, 'example.com'], [URI, 'spiffe://x/a'], true],
  ];
  for (const [what, base, name, expected] of cases) {
    test(`${expected ? 'permit' : 'do not permit'} ${what}`, () => {
      assert.equal(isAllowed(constraints([base]), [name]), expected);
    });
  }

  test('permit a name within any of them, and a leaf only if every name is permitted', () => {
    const two = constraints([
      [DNS, 'a.example'],
      [DNS, 'b.example'],
    ]);
    assert.equal(isAllowed(two, [[DNS, 'b.example']]), true);
    assert.equal(
      isAllowed(two, [
        [DNS, 'b.example'],
        [DNS, 'c.example'],
      ]),
      false,
    );
  });

  test('permit a leaf without names', () => {
    assert.equal(isAllowed(constraints([[DNS, 'example.com']]), []), true);
  });
});

describe('excluded subtrees', () => {
  const cases: readonly (readonly [string, Name, Name, boolean])[] = [
    ['a host itself', [DNS, 'example.com'], [DNS, 'example.com'], false],
    ['a host below', [DNS, '.example.com'], [DNS, 'a.example.com'], false],
    ['the host of a leading dot', [DNS, '.example.com'], [DNS, 'example.com'], false],
    ['a wildcard that may hit it', [DNS, 'a.example.com'], [DNS, '*.example.com'], false],
    ['another host', [DNS, 'example.com'], [DNS, 'example.org'], true],
    ['a URI’s host below', [URI, 'example.com'], [URI, 'https://a.example.com/'], false],
    ['a URI without a host', [URI, 'example.com'], [URI, 'urn:example:x'], false],
    ['mail at a host below', [EMAIL, 'example.com'], [EMAIL, 'b@a.example.com'], false],
    ['everything', [DNS, ''], [DNS, 'example.com'], false],
    ['an address in its range', [IP, NET], [IP, [10, 9, 9, 9]], false],
    ['an address outside', [IP, NET], [IP, [11, 9, 9, 9]], true],
    ['IPv4 in IPv6 by a range of IPv4', [IP, NET], [IP, MAPPED], false],
    ['IPv4 in IPv6 by a range of IPv6', [IP, ALL_V6], [IP, MAPPED], false],
    ['a host with an empty label', [DNS, 'example.org'], [DNS, 'a..example.com'], false],
    ['mail with a quoted local part', [EMAIL, 'example.org'], [EMAIL, '"a"@example.com'], false],
  ];
  for (const [what, base, name, expected] of cases) {
    test(`${expected ? 'leave' : 'exclude'} ${what}`, () => {
      assert.equal(isAllowed(constraints([], [base]), [name]), expected);
    });
  }

  test('exclude a name that is also permitted', () => {
    const value = constraints([[DNS, 'example.com']], [[DNS, 'a.example.com']]);
    assert.equal(isAllowed(value, [[DNS, 'a.example.com']]), false);
    assert.equal(isAllowed(value, [[DNS, 'b.example.com']]), true);
  });
});

describe('name constraints', () => {
  test('of a root bind leaves below an intermediate, and the intermediate itself', () => {
    const value = constraints([[DNS, 'example.com']]);
    const root = link('root', { extensions: [ca(), extension('2.5.29.30', value, true)] });
    const check = (middleNames: readonly Name[], leafNames: readonly Name[]): unknown => {
      const names = (of: readonly Name[]): readonly Uint8Array[] =>
        of.length > 0 ? [san(...of)] : [];
      const middle = link('mid', { by: root, extensions: [ca(), ...names(middleNames)] });
      const leaf = link('leaf', { by: middle, extensions: names(leafNames) });
      return verifyPath({
        leaf: leaf.certificate,
        intermediates: [middle.certificate],
        anchors: [root.certificate],
        now: NOW,
      });
    };
    check([], [[DNS, 'a.example.com']]);
    refuses(
      () => check([], [[DNS, 'a.example']]),
      'PATH_INVALID',
      /"a\.example" is outside/,
      'authority',
    );
    refuses(
      () => check([[DNS, 'b.example']], []),
      'PATH_INVALID',
      /"b\.example" is outside/,
      'authority',
    );
  });

  test('on name types that are not compared permit no leaf with such a name', () => {
    const directory = seq(explicit(0, seq(explicit(4, seq(set())))));
    assert.equal(isAllowed(directory, []), false);
  });

  test('on name types that are not compared refuse a leaf that has such names', () => {
    const directory = extension('2.5.29.30', seq(explicit(0, seq(explicit(4, seq(set()))))), true);
    const root = link('root', { extensions: [ca()] });
    const end = link('end', { by: root, extensions: [ca(), directory] });
    const [leaf, anchors] = [end.certificate, [root.certificate]];
    const verify = (): unknown => verifyPath({ leaf, intermediates: [], anchors, now: NOW });
    refuses(verify, 'PATH_INVALID', /name constraints of kinds/, 'authority');
  });

  test('refuse every name that cannot be compared, of any type (as Go)', () => {
    const value = constraints([[DNS, 'example']]);
    const odd: readonly Name[] = [
      [EMAIL, '*.a.example'],
      [EMAIL, 'a..b@c.example'],
      [URI, 'https://10.0.0.1/'],
      [URI, 'urn:example:b'],
    ];
    for (const name of odd) assert.equal(isAllowed(value, [name]), false, String(name[1]));
    assert.equal(
      isAllowed(value, [
        [EMAIL, 'a@b.other'],
        [URI, 'spiffe://other/a'],
      ]),
      true,
    );
  });

  test('are refused when they are empty, damaged or too many', () => {
    const base = implicit(2, Buffer.from('a'));
    const malformed: readonly (readonly [Uint8Array, RegExp])[] = [
      [seq(), /nameConstraints is empty/],
      [seq(explicit(0)), /nameConstraints is empty/],
      [seq(explicit(0, seq(base, implicit(0, [1])))), /minimum.* is more than 0/],
      [seq(explicit(0, seq())), /a name constraint is missing/],
      [seq(explicit(1, seq(base)), explicit(0, seq(base))), /trailing bytes/],
      [constraints([[IP, [10, 0, 0, 0]]]), /an address range of 4 bytes/],
      [constraints([[DNS, [0xff]]]), /not a valid IA5String/],
      [int(1), /tag/],
    ];
    for (const [value, message] of malformed) {
      refuses(() => decodeNameConstraints(value), 'DER_MALFORMED', message);
    }
    const many = constraints(Array.from({ length: 101 }, (): Name => [DNS, 'a']));
    refuses(() => decodeNameConstraints(many), 'DER_LIMIT', /more than 100 subtrees/);
  });
});
