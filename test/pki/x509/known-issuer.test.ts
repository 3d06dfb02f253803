// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifyPath } from '#pki/x509/path.ts';
import { NOW, ca, link, usage, type Link } from '../../support/pki/chain.ts';
import { seq, utcTime } from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';

const EXPIRED = seq(utcTime('250101000000Z'), utcTime('260101000000Z'));

const root = link('root', { extensions: [ca(), usage()] });
const middle = link('middle', { by: root, extensions: [ca(0), usage()] });

describe('where the issuer of the leaf is known', () => {
  const end = link('end', { by: middle });
  const from = (issuer: Link, anchors: readonly Link[], above: readonly Link[] = []): unknown =>
    verifyPath({
      leaf: end.certificate,
      issuer: issuer.certificate,
      intermediates: above.map(({ certificate }) => certificate),
      anchors: anchors.map(({ certificate }) => certificate),
      now: NOW,
    });

  test('the path leads through it, also where it is not among the intermediates', () => {
    const [, second, last] = [end, middle, root].map(({ certificate }) => certificate);
    assert.deepEqual(from(middle, [root]), [end.certificate, second, last]);
  });

  test('the path ends at it if it is an anchor itself', () => {
    const again = { ...middle, certificate: { ...middle.certificate } };
    assert.deepEqual(from(middle, [root, again]), [end.certificate, again.certificate]);
  });

  test('no other certificate of its name and key counts', () => {
    const twin = link('middle', { by: root, key: middle.key, extensions: [ca(0), usage()] });
    const expired = link('middle', {
      by: root,
      key: middle.key,
      validity: EXPIRED,
      extensions: [ca(0), usage()],
    });
    refuses(() => from(expired, [root], [twin]), 'PATH_INVALID', /has expired/, 'authority');
    refuses(() => from(expired, [root, twin]), 'PATH_INVALID', /has expired/, 'authority');
  });
});
