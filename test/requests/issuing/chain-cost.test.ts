// SPDX-License-Identifier: Apache-2.0
/** A leaf costs the same whatever its CA's Secret holds. */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test, type TestContext } from 'node:test';
import type { Authority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { correspond } from '#ca/issuance/correspond.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { leafInput } from '../../support/ca/issuing.ts';
import { NOW, ca, keyIds, link, usage, type Link } from '../../support/pki/chain.ts';
import { privateKey } from '../../support/pki/keys.ts';

const LEAVES = 5;

const isCa = [ca(), usage()];
const root = link('root', { extensions: [...isCa, ...keyIds('root')] });

/** Another certificate of the same name and key identifier. */
const decoy = (of: string, serial: number, key = privateKey('P-256', 'decoy')): Link =>
  link(of, { key, serial: Uint8Array.of(2, 1, serial), extensions: [...isCa, ...keyIds(of)] });

const many = (count: number, make: (index: number) => Link): readonly Link[] =>
  Array.from({ length: count }, (_, index) => make(index));

const issuingBy = (by: Link): Link =>
  link('issuing', { by, extensions: [...isCa, ...keyIds('issuing', by.name)] });

function openWith(chain: readonly Link[], anchors: readonly Link[]): Authority {
  const [issuing] = chain;
  assert.ok(issuing !== undefined);
  const pem = (links: readonly Link[]): string =>
    links.map(({ certificate }) => new crypto.X509Certificate(certificate.raw).toString()).join('');
  const key = issuing.key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return openLocalAuthority({ certificate: pem(chain), key, anchors: pem(anchors) }, NOW);
}

/** How many signatures are verified for some leaves of a CA that is open already. */
async function verifiedForLeaves(t: TestContext, authority: Authority): Promise<number> {
  const { facts } = authority;
  const verify = t.mock.method(crypto, 'verify');
  syncBuiltinESMExports();
  t.after(() => {
    verify.mock.restore();
    syncBuiltinESMExports();
  });
  for (let i = 0; i < LEAVES; i++) {
    const validity = { notBefore: NOW - 60_000, notAfter: NOW + 3_600_000 };
    const prepared = prepare(leafInput(authority, { validity }));
    prepared.requirePath(facts, NOW);
    const leaf = prepared.decode(await authority.sign(prepared, new AbortController().signal));
    correspond(prepared, { leaf, ...facts }, NOW);
  }
  return verify.mock.callCount();
}

const worlds: Readonly<Record<string, () => Authority>> = {
  'its root alone': () => openWith([issuingBy(root)], [root]),
  'that is a root': () => openWith([root], [root]),
  '60 anchors with the name and key identifier of its root': () =>
    openWith([issuingBy(root)], [...many(60, (index) => decoy('root', index)), root]),
  '60 anchors with its own name and key identifier': () =>
    openWith([root], [...many(60, (index) => decoy('root', index)), root]),
  '7 more roots of the same name and key': () =>
    openWith([issuingBy(root)], [...many(7, (index) => decoy('root', index, root.key)), root]),
  'a chain of seven, and two that lead nowhere': () => {
    const chain = many(6, () => root).reduce<Link[]>(
      (below, _, index) => [
        link(`middle ${index}`, {
          by: below[0] ?? root,
          extensions: [...isCa, ...keyIds(`middle ${index}`, below[0]?.name ?? 'root')],
        }),
        ...below,
      ],
      [],
    );
    const wrong = many(2, (index) => decoy('middle 5', index));
    return openWith([issuingBy(chain[0] ?? root), ...wrong, ...chain], [root]);
  },
};

for (const [what, open] of Object.entries(worlds)) {
  test(`one signature is verified for each leaf of a CA with ${what}`, async (t) => {
    assert.equal(await verifiedForLeaves(t, open()), LEAVES);
  });
}
