// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { ca, keyIds, link, purposes, usage } from '../support/pki/chain.ts';
import { explicit, extension, implicit, int, oid, seq, utcTime } from '../support/pki/der.ts';
import { AMBIGUOUS_CAS, FORM_KEY, ODD_CAS, UNUSUAL_CAS } from '../support/pki/forms.ts';
import { privateKey } from '../support/pki/keys.ts';
import { ISSUER, certificate } from './corpus/bases.ts';
import type { Case } from './corpus/case.ts';
import { CORPUS } from './corpus/index.ts';
import { parseTree, type Node } from './tree.ts';

/** What mutations begin with. */
export interface Seed {
  readonly bytes: Uint8Array;
  /** Absent where it is no DER. */
  readonly tree: Node | undefined;
  /** Signs what was changed. */
  readonly key: KeyObject;
}

/** Larger ones would make thousands of mutations wait for one. */
const MAX_BYTES = 4096;

export function seedsOf(kind: Case['kind']): readonly Seed[] {
  const made = CORPUS.filter((each) => each.kind === kind)
    .map((each) => ({ ...each, bytes: each.bytes() }))
    .filter(({ bytes }) => bytes.length > 0 && bytes.length <= MAX_BYTES);
  const [good, bad] = [
    made.filter(({ wrong }) => wrong === ''),
    made.filter(({ wrong }) => wrong !== ''),
  ];
  return [...weighed(good, bad.length), ...bad].map(({ name, bytes }) =>
    seedOf(bytes, name.endsWith('ed25519') ? privateKey('Ed25519') : ISSUER.key),
  );
}

/** What is good has more ways to go wrong: three of four mutations begin with it. */
function weighed<T>(good: readonly T[], bad: number): readonly T[] {
  const times = Math.ceil((3 * bad) / good.length);
  return Array.from({ length: times }, () => good).flat();
}

function seedOf(bytes: Uint8Array, key: KeyObject): Seed {
  try {
    return { bytes, tree: parseTree(bytes), key };
  } catch {
    return { bytes, tree: undefined, key };
  }
}

/** CAs with all that certificates can hold. */
export function authoritySeeds(): readonly Seed[] {
  const policies = extension('2.5.29.32', seq(seq(oid('1.2.3.4')), seq(oid('2.5.29.32.0'))));
  const points = extension(
    '2.5.29.31',
    seq(seq(explicit(0, explicit(0, implicit(6, Buffer.from('http://a.example/crl')))))),
  );
  const information = extension(
    '1.3.6.1.5.5.7.1.1',
    seq(seq(oid('1.3.6.1.5.5.7.48.1'), implicit(6, Buffer.from('http://a.example')))),
  );
  const subtrees = (...names: readonly Uint8Array[]): Uint8Array =>
    Buffer.concat(names.map((name) => seq(name)));
  const constraints = extension(
    '2.5.29.30',
    seq(
      explicit(
        0,
        subtrees(
          implicit(2, Buffer.from('example')),
          implicit(6, Buffer.from('.example')),
          implicit(7, [10, 0, 0, 0, 255, 0, 0, 0]),
        ),
      ),
      explicit(
        1,
        subtrees(implicit(2, Buffer.from('bad.example')), implicit(1, Buffer.from('a@b.example'))),
      ),
    ),
    true,
  );
  const others = [
    extension('2.5.29.33', seq(seq(oid('1.2.3'), oid('1.2.4'))), true),
    extension('2.5.29.36', seq(implicit(0, [0]), implicit(1, [1]))),
    extension('2.5.29.54', int(1), true),
  ];
  const extensions = [ca(2), usage(), ...keyIds('a', 'b'), purposes('2.5.29.37.0')];
  return [
    certificate({ extensions: [...extensions, constraints] }),
    certificate({ extensions: [...extensions, policies, points, information, ...others] }),
    certificate({ validity: seq(utcTime('000229000000Z'), utcTime('491231235959Z')) }),
    ISSUER.certificate.raw,
    link('other', { extensions }).certificate.raw,
  ].flatMap((bytes) => Array.from({ length: 60 }, () => seedOf(bytes, ISSUER.key)));
}

/** CAs in the odd forms that are read, and in those that are not. */
export function formSeeds(): readonly Seed[] {
  const odd = Object.values(ODD_CAS).map((twins) => twins.odd);
  const all = [...odd, ...Object.values(UNUSUAL_CAS), ...Object.values(AMBIGUOUS_CAS)];
  return all.flatMap((bytes) => Array.from({ length: 30 }, () => seedOf(bytes, FORM_KEY)));
}
