// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  refuseRelease,
  releaseParts,
  releaseSum,
  unpackRelease,
} from '#install/cert-manager-operator/release.ts';
import type { ReleaseRow } from '#install/cert-manager-operator/releases.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';

const TEXT = `# A comment.
apiVersion: v1
kind: Namespace
metadata:
  name: cert-manager
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: cert-manager, namespace: cert-manager}
automountServiceAccountToken: true
---
`;

async function taken(text: string): Promise<readonly ManagedObject[]> {
  const objects = await unpackRelease(gzipSync(text));
  assert.ok(!('reason' in objects), JSON.stringify(objects));
  return objects;
}

/** What is known of a release with these objects. */
function rowOf(objects: readonly ManagedObject[]): ReleaseRow {
  return {
    state: 'confirmed',
    file: '0'.repeat(64),
    sources: [],
    sum: releaseSum(objects),
    parts: releaseParts(objects),
  };
}

async function refused(file: Uint8Array): Promise<string> {
  const objects = await unpackRelease(file);
  return 'reason' in objects ? `${objects.reason}: ${objects.message}` : 'taken';
}

test('comments, spaces, quotes and the order make no other sum', async () => {
  const [first, second] = TEXT.split('---\n');
  const other = `${second ?? ''}---\n\n---\n${(first ?? '').replace('Namespace', '"Namespace"')}`;
  assert.equal(releaseSum(await taken(other)), releaseSum(await taken(TEXT)));
});

test('one changed, missing or additional field or object makes another sum', async () => {
  const sum = releaseSum(await taken(TEXT));
  const others = [
    TEXT.replace('Token: true', 'Token: false'),
    TEXT.replace('automountServiceAccountToken: true\n', ''),
    TEXT.slice(0, TEXT.indexOf('---')),
    `${TEXT}${TEXT.slice(0, TEXT.indexOf('---')).replace('name: cert', 'name: more-cert')}`,
  ];
  for (const each of others) assert.notEqual(releaseSum(await taken(each)), sum, each);
});

test('refuses an unknown release by its sum, and one of another version by its name', async () => {
  const objects = await taken(TEXT);
  const sums = {
    sums: { '1.20.3': releaseSum(objects), '1.21.2': '0'.repeat(64) },
    rows: { '1.20.3': rowOf(objects) },
  };
  assert.equal(refuseRelease('1.20.3', objects, sums), undefined);
  assert.match(
    refuseRelease('1.21.2', objects, sums)?.message ?? '',
    /not cert-manager "1\.21\.2": it is 1\.20\.3/,
  );
  const cut = refuseRelease('1.20.3', objects.slice(1), sums);
  assert.equal(cut?.reason, 'ManifestUnknown');
  assert.match(cut.message, new RegExp(`have the sum ${releaseSum(objects.slice(1))}, which`));
  // A name of every object.
  assert.equal(refuseRelease('constructor', objects, sums)?.reason, 'ManifestUnknown');
});

test('a differing file reports changed, missing, additional and duplicate objects', async () => {
  const objects = await taken(TEXT);
  const sums = {
    sums: { '1.20.3': releaseSum(objects) },
    rows: { '1.20.3': rowOf(objects) },
  };
  const said = async (text: string): Promise<string> =>
    refuseRelease('1.20.3', await taken(text), sums)?.message ?? 'taken';
  const more = TEXT.slice(0, TEXT.indexOf('---')).replace('name: cert', 'name: more-cert');
  assert.equal(await said(TEXT), 'taken');
  assert.match(
    await said(TEXT.replace('Token: true', 'Token: false')),
    /no known release: changed "ServiceAccount cert-manager\/cert-manager"; use/,
  );
  assert.match(
    await said(TEXT.slice(0, TEXT.indexOf('---'))),
    /: missing "ServiceAccount cert-manager\/cert-manager"; use/,
  );
  assert.match(await said(`${TEXT}${more}`), /: additional "Namespace more-cert-manager"; use/);
  assert.match(await said(`${TEXT}${TEXT}`), /: 2 objects twice; use/);
  const many = Array.from({ length: 9 }, (_, at) => more.replace('more', `more${at}`)).join(
    '---\n',
  );
  assert.match(await said(`${TEXT}${many}`), /additional .* and 4 more; use/);
  // Of another version nothing is known, so it says that.
  assert.match(
    refuseRelease('1.21.2', objects.slice(1), sums)?.message ?? '',
    /no known release \(which objects differ is not known\); use/,
  );
});

test('a file that differs names its own first object that does', async () => {
  const names = ['c', 'a', 'b'];
  const text = names.map((name) => TEXT.slice(0, TEXT.indexOf('---')).replace('cert', name));
  const objects = await taken(text.join('---\n'));
  const known = { sums: { '1.20.3': releaseSum(objects) }, rows: { '1.20.3': rowOf(objects) } };
  for (const [at, name] of names.entries()) {
    const changed = text.map((each, index) => (index < at ? each : `${each}x: y\n`)).join('---\n');
    const said = refuseRelease('1.20.3', await taken(changed), known)?.message ?? 'taken';
    assert.match(said, new RegExp(`: changed "Namespace ${name}-manager"`));
  }
});

test('refuses an unconfirmed release, naming the sum to confirm, and a wrong sum', async () => {
  const objects = await taken(TEXT);
  const sum = releaseSum(objects);
  const rows = { '1.20.3': { ...rowOf(objects), state: 'unconfirmed' } as const };
  const said = (file: readonly ManagedObject[], given: Record<string, string> = {}): string => {
    const refusal = refuseRelease('1.20.3', file, { sums: given, rows });
    return refusal === undefined ? 'taken' : `${refusal.reason}: ${refusal.message}`;
  };
  assert.match(
    said(objects),
    new RegExp(
      `^ReleaseUnconfirmed: .* is unconfirmed: 0 public .* the sum ${sum}, as .* --allow-release 1\\.20\\.3=${sum}$`,
    ),
  );
  assert.equal(said(objects, { '1.20.3': sum }), 'taken');
  assert.match(said(objects, { '1.20.3': 'f'.repeat(64) }), /^ManifestUnknown: /);
  // A file that differs from the one of the Go module says where.
  assert.match(
    said(objects.slice(0, 1)),
    /^ReleaseUnconfirmed: .* another: missing "ServiceAccount cert-manager\/cert-manager"; compare/,
  );
});

test('refuses truncated, oversized and foreign files, with the reason', async () => {
  const whole = gzipSync(TEXT);
  assert.match(
    await refused(whole.subarray(0, whole.length - 9)),
    /^ManifestInvalid: .*not a complete gzip/,
  );
  assert.match(await refused(Buffer.from(TEXT)), /^ManifestInvalid: .*not a complete gzip/);
  assert.match(await refused(gzipSync(Buffer.from([0xff, 0xfe]))), /^ManifestInvalid: .*UTF-8/);
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
  assert.ok(bomb.length < 100_000);
  assert.match(await refused(bomb), /^ManifestInvalid: .*larger than 4194304 bytes/);
  assert.match(await refused(gzipSync('---\n'.repeat(300))), /more than 200 documents/);
  assert.match(
    await refused(gzipSync(`${TEXT}apiVersion: v1\nkind: [`)),
    /its document 3 is not an object, or is truncated/,
  );
  assert.match(await refused(gzipSync('a text')), /document 1 is not an object/);
  assert.match(
    await refused(gzipSync('apiVersion: v1\nkind: Pod\nmetadata: {name: x}')),
    /Pod x is of a kind that is not installed/,
  );
});

test('aliases, which grow when they are read, are refused', async () => {
  const lines = Array.from(
    { length: 20 },
    (_, at) => `  a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`,
  );
  const text = `apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: x}\nmore:\n  a0: &a0 [x, x]\n${lines.join('\n')}\n`;
  assert.match(await refused(gzipSync(text)), /document 1 is not an object/);
});

test('a file of very many keys is refused', async () => {
  const keys = Array.from({ length: 40_000 }, (_, index) => `k${index}: 1\n`).join('');
  await refused(gzipSync(keys));
});

test('the last of duplicate keys counts, for the sum and for the installation', async () => {
  const twice = TEXT.replace('Token: true', 'Token: true\nautomountServiceAccountToken: false');
  const once = TEXT.replace('Token: true', 'Token: false');
  assert.deepEqual(await taken(twice), await taken(once));
});

test('no YAML 1.1 has the sum of an empty map but installs another value', async () => {
  const text = (spec: string): string =>
    `%YAML 1.1\n--- # x\napiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: ${spec}\n`;
  const empty = releaseSum(await taken(text('{}')));
  assert.notEqual(releaseSum(await taken(text('2001-12-14'))), empty);
});
