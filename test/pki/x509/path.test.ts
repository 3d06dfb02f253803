// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Certificate } from '#pki/x509/certificate.ts';
import { requirePossiblePath, verifyPath } from '#pki/x509/path.ts';
import { NOW, ca, keyIds, link, purposes, usage, type Link } from '../../support/pki/chain.ts';
import { bits, extension, implicit, seq, set, utcTime, oid, utf8 } from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { refuses } from '../../support/pki/refuses.ts';

const CLIENT = '1.3.6.1.5.5.7.3.2';
const SERVER = '1.3.6.1.5.5.7.3.1';
const EXPIRED = seq(utcTime('250101000000Z'), utcTime('260101000000Z'));
const LATER = seq(utcTime('261201000000Z'), utcTime('271201000000Z'));

const root = link('root', { extensions: [ca(), usage()] });
const middle = link('middle', { by: root, extensions: [ca(0), usage()] });
const leaf = link('leaf', { by: middle });

function verify(
  end: Link,
  intermediates: readonly Link[],
  anchors: readonly Link[] = [root],
  now = NOW,
): readonly Certificate[] {
  const certificates = (links: readonly Link[]): readonly Certificate[] =>
    links.map(({ certificate }) => certificate);
  return verifyPath({
    leaf: end.certificate,
    intermediates: certificates(intermediates),
    anchors: certificates(anchors),
    now,
  });
}

const isRefused = (message: RegExp, ...args: Parameters<typeof verify>): void =>
  refuses(() => verify(...args), 'PATH_INVALID', message, 'authority');

describe('a path is valid', () => {
  test('from a leaf directly to its anchor', () => {
    const direct = link('direct', { by: root });
    assert.deepEqual(verify(direct, []), [direct.certificate, root.certificate]);
  });

  test('over an intermediate, among unrelated ones and in any order', () => {
    const other = link('other', { by: root, extensions: [ca()] });
    assert.deepEqual(
      verify(leaf, [other, leaf, middle], [other, root]).map(({ subject }) => subject.raw),
      [leaf, middle, root].map(({ certificate }) => certificate.subject.raw),
    );
  });

  test('to an intermediate that is an anchor', () => {
    assert.equal(verify(leaf, [], [middle]).length, 2);
  });

  test('from the first to the last second of its certificates, and not outside', () => {
    const { notBefore, notAfter } = leaf.certificate;
    verify(leaf, [middle], [root], notBefore);
    verify(leaf, [middle], [root], notAfter);
    isRefused(/"CN=leaf" is not valid yet/, leaf, [middle], [root], notBefore - 1);
    isRefused(/"CN=leaf" has expired/, leaf, [middle], [root], notAfter + 1);
  });

  test('for every kind of key', () => {
    for (const kind of ['P-384', 'P-521'] as const) {
      const top = link(kind, { key: privateKey(kind), extensions: [ca()] });
      verify(link('end', { by: top }), [], [top]);
    }
  });

  test('through the issuer of that name whose key matches, at any position', () => {
    const twin = link('root', { key: privateKey('P-256', 'twin'), extensions: [ca()] });
    const direct = link('direct', { by: root });
    for (const anchors of [
      [twin, root],
      [root, twin],
    ]) {
      assert.equal(verify(direct, [], anchors).at(-1), root.certificate);
    }
  });
});

describe('a path is refused', () => {
  test('when no issuer of the leaf is given', () => {
    isRefused(/no anchor or intermediate issued "CN=leaf"/, leaf, []);
    isRefused(/no anchor or intermediate issued "CN=middle"/, leaf, [middle], []);
  });

  test('when the issuer’s name matches and the signature does not', () => {
    const impostor = link('middle', {
      by: root,
      key: privateKey('P-256', 'no'),
      extensions: [ca()],
    });
    isRefused(/signature of "CN=leaf" is not by "CN=middle"/, leaf, [impostor]);
    const forged = link('middle', {
      by: root,
      key: middle.key,
      signature: bits(new Uint8Array(70)),
      extensions: [ca()],
    });
    isRefused(/signature of "CN=middle" is not by "CN=root"/, leaf, [forged]);
  });

  test('when an issuer is not a CA', () => {
    const plain = link('plain', { by: root });
    isRefused(/"CN=plain" is not a CA/, link('end', { by: plain }), [plain]);
    isRefused(/"CN=plain" is not a CA/, link('end', { by: plain }), [], [plain]);
  });

  test('when an issuer may not sign certificates', () => {
    const crl = link('crl', { by: root, extensions: [ca(), usage([0x02], 1)] });
    isRefused(/"CN=crl" may not sign certificates/, link('end', { by: crl }), [crl]);
  });

  test('when it exceeds a path length constraint', () => {
    const deep = link('deep', { by: middle, extensions: [ca()] });
    isRefused(
      /"CN=middle" allows 0 CAs below itself \(pathLenConstraint\), but there are 1/,
      link('x', { by: deep }),
      [deep, middle],
    );
    const tight = link('tight', { extensions: [ca(0)] });
    const below = link('below', { by: tight, extensions: [ca()] });
    isRefused(/"CN=tight" allows 0 CAs/, link('x', { by: below }), [below], [tight]);
  });

  test('when it has more than eight CAs', () => {
    const between: Link[] = [root];
    for (let i = 0; i < 9; i++) {
      between.push(link(`between ${i}`, { by: between[i] ?? root, extensions: [ca()] }));
    }
    const end = link('end', { by: between[9] ?? root });
    isRefused(/there are more than 8 CAs between leaf and anchor/, end, between.slice(1));
    verify(link('end', { by: between[8] ?? root }), between.slice(1));
  });

  test('a self-issued CA over the path length: Go counts it, RFC 5280 §4.2.1.9 does not', () => {
    const top = link('top', { extensions: [ca(0)] });
    const next = link('top', {
      by: top,
      key: privateKey('P-256', 'next'),
      extensions: [ca(0)],
    });
    isRefused(
      /"CN=top" allows 0 CAs below itself \(pathLenConstraint\), but there are 1/,
      link('end', { by: next }),
      [next],
      [top],
    );
  });

  test('when an issuer has an RSA key below 2048 bits', () => {
    const key = privateKey('RSA-1024');
    const weak = link('weak', { by: root, key, extensions: [ca()] });
    isRefused(/"CN=weak" has an RSA key of 1024 bits/, link('end', { by: weak }), [weak]);
  });

  test('when one of its certificates is expired or not yet valid', () => {
    for (const [validity, message] of [
      [EXPIRED, /"CN=mid" has expired/],
      [LATER, /"CN=mid" is not valid yet/],
    ] as const) {
      const mid = link('mid', { by: root, validity, extensions: [ca()] });
      isRefused(message, link('end', { by: mid }), [mid]);
    }
    const old = link('old', { validity: EXPIRED, extensions: [ca()] });
    isRefused(/"CN=old" has expired/, link('end', { by: old }), [], [old]);
  });

  test('when one of its certificates has an unknown critical extension', () => {
    const odd = extension('1.2.3.4', [], true);
    isRefused(
      /"CN=end" has the critical extension 1\.2\.3\.4/,
      link('end', { by: root, extensions: [odd] }),
      [],
    );
    const mid = link('mid', { by: root, extensions: [ca(), odd] });
    isRefused(/"CN=mid" has the critical extension 1\.2\.3\.4/, link('end', { by: mid }), [mid]);
    verify(link('end', { by: root, extensions: [extension('1.2.3.4', [])] }), []);
  });

  // Go looks for a policy, whether the extension is critical or not.
  test('when a CA requires a policy, in an extension that is not critical', () => {
    const constraints = (tag: number): Uint8Array =>
      extension('2.5.29.36', seq(implicit(tag, [0])), false);
    const strict = link('strict', { by: root, extensions: [ca(), constraints(0)] });
    isRefused(/"CN=strict" requires a certificate policy/, link('end', { by: strict }), [strict]);
    const mapped = link('mapped', { by: root, extensions: [ca(), constraints(1)] });
    verify(link('end', { by: mapped }), [mapped]);
  });

  test('when a CA’s extended key usages do not cover the leaf’s', () => {
    const clients = link('clients', { by: root, extensions: [ca(), purposes(CLIENT)] });
    verify(link('end', { by: clients, extensions: [purposes(CLIENT)] }), [clients]);
    for (const extensions of [[purposes(CLIENT, SERVER)], [purposes(SERVER)], []]) {
      isRefused(
        /"CN=clients" does not allow the purpose/,
        link('end', { by: clients, extensions }),
        [clients],
      );
    }
    const any = link('any', { by: root, extensions: [ca(), purposes('2.5.29.37.0')] });
    verify(link('end', { by: any, extensions: [purposes(SERVER)] }), [any]);
  });

  test('when names differ in bytes although they look alike', () => {
    const utf8Root = link('root', {
      subject: seq(set(seq(oid('2.5.4.3'), utf8('root')))),
      key: root.key,
      extensions: [ca()],
    });
    isRefused(/no anchor or intermediate issued/, link('end', { by: root }), [], [utf8Root]);
  });

  test('when the only anchor is the leaf itself, which is not a CA', () => {
    isRefused(/no anchor or intermediate issued "CN=leaf"/, leaf, [], [leaf]);
  });
});

describe('the search for a path', () => {
  test('ends among intermediates that issue each other', () => {
    const keys = ['a', 'b'].map((name) => ({ name, key: privateKey('P-256', `loop-${name}`) }));
    const [a, b] = keys;
    assert.ok(a !== undefined && b !== undefined);
    const loop = [
      link('a', { by: b, key: a.key, extensions: [ca()] }),
      link('b', { by: a, key: b.key, extensions: [ca()] }),
    ];
    isRefused(/no valid path to a trust anchor/, link('end', { by: a }), loop);
  });

  test('gives up after a bounded number of signatures (CVE-2018-16875)', () => {
    const key = privateKey('P-256', 'maze');
    const maze = Array.from({ length: 20 }, (_, i) =>
      link('maze', { key, serial: Uint8Array.of(2, 1, i), extensions: [ca()] }),
    );
    isRefused(/more than 64 signatures to try/, link('end', { by: { name: 'maze', key } }), maze);
  });

  test('first tries the issuer with the matching key identifier', () => {
    const key = privateKey('P-256', 'ids');
    const twins = ['one', 'two'].map((id) =>
      link('ids', { by: root, key, extensions: [ca(), ...keyIds(id)] }),
    );
    const end = link('end', { by: { name: 'ids', key }, extensions: keyIds(undefined, 'two') });
    assert.equal(verify(end, twins)[1], twins[1]?.certificate);
  });
});

describe('the path check of an unsigned leaf', () => {
  const possible = (above: Link, anchor = root): void => {
    requirePossiblePath({
      leaf: leaf.certificate,
      intermediates: [above.certificate],
      anchors: [anchor.certificate],
      now: NOW,
    });
  };

  test('does not check the leaf’s signature', () => {
    const namesake = { by: root, key: privateKey('P-256', 'no'), extensions: [ca()] };
    assert.doesNotThrow(() => possible(link('middle', namesake)));
  });

  test('checks the signatures above the leaf', () => {
    const signature = bits(new Uint8Array(70));
    const forged = link('middle', { by: root, signature, extensions: [ca()] });
    const message = /signature of "CN=middle" is not by "CN=root"/;
    refuses(() => possible(forged), 'PATH_INVALID', message, 'authority');
  });

  test('checks extended key usages and validity', () => {
    const expired = link('middle', { by: root, validity: EXPIRED, extensions: [ca()] });
    refuses(() => possible(expired), 'PATH_INVALID', /has expired/, 'authority');
    const server = link('middle', { by: root, extensions: [ca(), purposes(SERVER)] });
    refuses(() => possible(server), 'PATH_INVALID', /does not allow the purpose/, 'authority');
  });
});
