// SPDX-License-Identifier: Apache-2.0
import { ca, keyIds, link, usage } from '../../support/pki/chain.ts';
import {
  bits,
  extension,
  implicit,
  int,
  oid,
  rdn,
  seq,
  utcTime,
  utf8,
} from '../../support/pki/der.ts';
import { privateKey, type TestKey } from '../../support/pki/keys.ts';
import { ED25519, RSA_SHA256 } from '../../support/pki/request-der.ts';
import {
  authority,
  chain,
  chainsOf,
  leaf,
  long,
  three,
  type ChainCase,
  type ChainTable,
  type Wanted,
} from './case.ts';

const PATH = 'RFC 5280 §6.1.3';
const root = authority('root');
const middle = authority('middle', { by: root });
const twin = privateKey('P-256', 'twin');
const EXPIRED = seq(utcTime('250101000000Z'), utcTime('260101000000Z'));
const LATER = seq(utcTime('261201000000Z'), utcTime('271201000000Z'));
const ODD = extension('1.2.3.4', [], true);

const algorithmOf = (kind: TestKey): Uint8Array | undefined =>
  kind.startsWith('RSA') ? RSA_SHA256 : kind === 'Ed25519' ? ED25519 : undefined;

/** A CA of this kind of key, and a leaf that it signed. */
function ofKind(kind: TestKey): ReturnType<typeof chain> {
  const algorithm = algorithmOf(kind);
  const signedBy = algorithm === undefined ? {} : { algorithm };
  const top = authority('root', { key: privateKey(kind), ...signedBy });
  return chain(leaf(top, undefined, signedBy), [], [top]);
}

const PATHS: ChainTable = {
  direct: ['', PATH, () => chain(leaf(root), [], [root])],
  'one-between': ['', PATH, () => three({}, {})],
  'three-between': ['', PATH, () => long(3)],
  'eight-between': ['', PATH, () => long(8)],
  'nine-between': ['there are more than eight CAs between', 'own limit', () => long(9)],
  'other-order': [
    '',
    'RFC 4158 §3.1',
    () => ({ ...long(3), intermediates: [...long(3).intermediates].reverse() }),
  ],
  'others-about': [
    '',
    'RFC 4158 §3.1',
    () =>
      chain(
        leaf(middle),
        [authority('x', { by: root }), middle, leaf(root)],
        [authority('y'), root],
      ),
  ],
  'anchor-between': ['', 'RFC 5280 §6.1', () => chain(leaf(middle), [], [middle])],
  'root-among-intermediates': [
    '',
    'RFC 4158 §3.1',
    () => chain(leaf(middle), [root, middle], [root]),
  ],
  'leaf-is-a-ca': ['', PATH, () => chain(authority('below', { by: root }), [], [root])],
  'p-256': ['', PATH, () => ofKind('P-256')],
  'p-384': ['', PATH, () => ofKind('P-384')],
  'p-521': ['', PATH, () => ofKind('P-521')],
  'rsa-2048': ['', PATH, () => ofKind('RSA-2048')],
  ed25519: ['', PATH, () => ofKindEd25519()],
  'no-anchors': ['there are no anchors', PATH, () => chain(leaf(root), [root], [])],
  'other-anchor': [
    'the anchor has another name',
    PATH,
    () => chain(leaf(root), [], [authority('other')]),
  ],
  'anchor-is-the-leaf': [
    'the leaf is its only anchor, and no CA',
    PATH,
    () => {
      const end = leaf(root);
      return chain(end, [], [end]);
    },
  ],
  'missing-between': ['the CA between is missing', PATH, () => chain(leaf(middle), [], [root])],
  'missing-above': [
    'a CA further up is missing',
    PATH,
    () => {
      const { leaf: end, intermediates, ...rest } = long(3);
      return { leaf: end, intermediates: intermediates.slice(1), ...rest };
    },
  ],
  'self-signed-leaf': [
    'the leaf signed itself',
    PATH,
    () => chain(leaf(authority('leaf', { key: privateKey('P-256', 'leaf') })), [], [root]),
  ],
  'signature-garbage': [
    'the signature of the leaf is garbage',
    PATH,
    () => chain(leaf(root, undefined, { signature: bits(new Uint8Array(70)) }), [], [root]),
  ],
  'signature-garbage-between': [
    'the signature of a CA is garbage',
    PATH,
    () => {
      const forged = authority('middle', { by: root, signature: bits(new Uint8Array(70)) });
      return chain(leaf(forged), [forged], [root]);
    },
  ],
  impostor: [
    'another key has the name of the anchor',
    PATH,
    () => chain(leaf(authority('root', { key: twin, id: 'twin' })), [], [root]),
  ],
  'impostor-between': [
    'another key has the name of a CA',
    PATH,
    () => chain(leaf(middle), [authority('middle', { by: root, key: twin, id: 'twin' })], [root]),
  ],
  'twin-anchors': [
    '',
    'RFC 4158 §3.5',
    () => chain(leaf(root), [], [authority('root', { key: twin, id: 'twin' }), root]),
  ],
  'twin-between': [
    '',
    'RFC 4158 §3.5',
    () =>
      chain(
        leaf(middle),
        [authority('middle', { by: root, key: twin, id: 'twin' }), middle],
        [root],
      ),
  ],
  'cross-signed': [
    '',
    'RFC 4158 §1.4',
    () => {
      const other = authority('other');
      return chain(
        leaf(middle),
        [authority('middle', { by: other, key: middle.key }), middle],
        [root],
      );
    },
  ],
  'renewed-with-the-same-key': [
    '',
    'RFC 4158 §3.5',
    () =>
      chain(
        leaf(middle),
        [authority('middle', { by: root, key: middle.key, validity: EXPIRED }), middle],
        [root],
      ),
  ],
  'other-key-identifier': [
    '',
    'RFC 5280 §4.2.1.1: a hint',
    () => chain(leaf(root, keyIds()), [], [root]),
  ],
  'expired-leaf': [
    'the leaf has expired',
    PATH,
    () => chain(leaf(root, undefined, { validity: EXPIRED }), [], [root]),
  ],
  'expired-between': ['a CA has expired', PATH, () => three({}, { validity: EXPIRED })],
  'expired-root': ['the root has expired', PATH, () => three({ validity: EXPIRED }, {})],
  'later-leaf': [
    'the leaf is not valid yet',
    PATH,
    () => chain(leaf(root, undefined, { validity: LATER }), [], [root]),
  ],
  'later-between': ['a CA is not valid yet', PATH, () => three({}, { validity: LATER })],
  'later-root': ['the root is not valid yet', PATH, () => three({ validity: LATER }, {})],
  'first-second': ['', PATH, () => chain(leaf(root), [], [root], Date.UTC(2026, 0, 1))],
  'last-second': ['', PATH, () => chain(leaf(root), [], [root], Date.UTC(2027, 0, 1))],
  'second-before': [
    'it is a second before the validity',
    PATH,
    () => chain(leaf(root), [], [root], Date.UTC(2026, 0, 1) - 1000),
  ],
  'second-after': [
    'it is a second after the validity',
    PATH,
    () => chain(leaf(root), [], [root], Date.UTC(2027, 0, 1) + 1000),
  ],
  'critical-leaf': [
    'the leaf has an unknown critical extension',
    'RFC 5280 §4.2',
    () => three({}, {}, [ODD]),
  ],
  'critical-between': [
    'a CA has an unknown critical extension',
    'RFC 5280 §4.2',
    () => three({}, { more: [ODD] }),
  ],
  'critical-root': [
    'the root has an unknown critical extension',
    'RFC 5280 §4.2',
    () => three({ more: [ODD] }, {}),
  ],
  'critical-policies': [
    '',
    'RFC 5280 §6.1.3',
    () => three({}, { more: [extension('2.5.29.32', seq(seq(oid('2.5.29.32.0'))), true)] }),
  ],
  'require-policy': [
    'a CA requires a policy that no certificate has',
    'RFC 5280 §4.2.1.11',
    () => three({}, { more: [extension('2.5.29.36', seq(implicit(0, [0])), true)] }),
  ],
  'require-policy-not-critical': [
    'a CA requires a policy that no certificate has, in an extension that is not critical',
    'RFC 5280 §4.2.1.11',
    () => three({}, { more: [extension('2.5.29.36', seq(implicit(0, [0])), false)] }),
  ],
  'other-string-type': [
    'the names look alike and are of other string types',
    'RFC 5280 §7.1',
    () =>
      chain(
        leaf(root),
        [],
        [authority('root', { key: root.key, subject: seq(rdn('2.5.4.3', utf8('root'))) })],
      ),
  ],
  'weak-issuer': ['a CA has an RSA key of 1,024 bits', 'NIST SP 800-57', () => three({}, weak())],
  'sha-1': [
    'the leaf is signed with SHA-1',
    'RFC 9155',
    () => chain(leaf(root, undefined, { algorithm: seq(oid('1.2.840.10045.4.1')) }), [], [root]),
  ],
  loop: ['two CAs issued each other', 'RFC 4158 §5.2', loop],
  maze: ['20 CAs have one name and key (CVE-2018-16875)', 'own limit', maze],
};

function ofKindEd25519(): ReturnType<typeof chain> {
  // support/certificate-der signs with SHA-256, which Ed25519 cannot: so below a P-256 root.
  const below = authority('middle', { by: root, key: privateKey('Ed25519') });
  return chain(below, [], [root]);
}

function weak(): Wanted {
  return { key: privateKey('RSA-1024') };
}

function loop(): ReturnType<typeof chain> {
  const [one, two] = [
    { name: 'a', key: middle.key },
    { name: 'b', key: twin, id: 'twin' },
  ];
  const both = [
    authority('a', { by: two, key: one.key }),
    authority('b', { by: one, key: two.key }),
  ];
  return chain(leaf(both[0] ?? root), both, [root]);
}

function maze(): ReturnType<typeof chain> {
  const key = privateKey('P-256', 'maze');
  const walls = Array.from({ length: 20 }, (_, i) =>
    link('maze', { key, serial: int(1, i), extensions: [ca(), usage()] }),
  );
  return chain(leaf(walls[0] ?? root), walls, [root]);
}

/** Who issued whom, and when. */
export function paths(): readonly ChainCase[] {
  return chainsOf('path', PATHS);
}
