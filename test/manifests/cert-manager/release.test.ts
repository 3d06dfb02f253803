// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  refuseRelease,
  releaseSum,
  unpackRelease,
} from '../../../src/manifests/cert-manager/release.ts';
import type { ManagedObject } from '../../../src/reconciling/objects/managed-object.ts';

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

test('a release that is not known is refused by its sum, and one of another version by its name', async () => {
  const objects = await taken(TEXT);
  const sums = { '1.20.3': releaseSum(objects), '1.21.2': '0'.repeat(64) };
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

test('what is cut off, too large when unpacked, or no release is refused, with the reason', async () => {
  const whole = gzipSync(TEXT);
  assert.match(
    await refused(whole.subarray(0, whole.length - 9)),
    /^ManifestInvalid: .*no whole gzip/,
  );
  assert.match(await refused(Buffer.from(TEXT)), /^ManifestInvalid: .*no whole gzip/);
  assert.match(await refused(gzipSync(Buffer.from([0xff, 0xfe]))), /^ManifestInvalid: .*UTF-8/);
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
  assert.ok(bomb.length < 100_000);
  assert.match(await refused(bomb), /^ManifestInvalid: .*larger than 4194304 bytes/);
  assert.match(await refused(gzipSync('---\n'.repeat(300))), /more than 200 documents/);
  assert.match(
    await refused(gzipSync(`${TEXT}apiVersion: v1\nkind: [`)),
    /its document 3 is no object, or it is cut off/,
  );
  assert.match(await refused(gzipSync('a text')), /document 1 is no object/);
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
  assert.match(await refused(gzipSync(text)), /document 1 is no object/);
});

test('a file of very many keys is refused', async () => {
  const keys = Array.from({ length: 40_000 }, (_, index) => `k${index}: 1\n`).join('');
  await refused(gzipSync(keys));
});

test('of a key that is there twice the last counts, for the sum as for what is installed', async () => {
  const twice = TEXT.replace('Token: true', 'Token: true\nautomountServiceAccountToken: false');
  const once = TEXT.replace('Token: true', 'Token: false');
  assert.deepEqual(await taken(twice), await taken(once));
});

test('nothing of YAML 1.1 has the sum of an empty map and is installed as another value', async () => {
  const text = (spec: string): string =>
    `%YAML 1.1\n--- # x\napiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: ${spec}\n`;
  const empty = releaseSum(await taken(text('{}')));
  assert.notEqual(releaseSum(await taken(text('2001-12-14'))), empty);
});
