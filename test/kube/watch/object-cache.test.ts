// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createObjectCache, type ObjectCache } from '#kube/watch/object-cache.ts';
import { isNewer } from '#kube/resource/object.ts';

interface Thing {
  readonly metadata: { name: string; namespace?: string; uid: string; resourceVersion: string };
  readonly done?: boolean;
}

type Change = readonly [key: string, now: string | undefined, before: string | undefined];

function thing(name: string, version: number, more: { uid?: string; done?: boolean } = {}): Thing {
  const { uid = `${name}-1`, ...rest } = more;
  return { metadata: { name, uid, resourceVersion: String(version) }, ...rest };
}

/** A mirror of what is not done, and what it told: keys and resourceVersions. */
function mirrorWith(...objects: Thing[]): { mirror: ObjectCache<Thing>; told: Change[] } {
  const told: Change[] = [];
  const mirror = createObjectCache<Thing>(
    (object) => (object.done === true ? undefined : object),
    (key, now, before) =>
      told.push([key, now?.metadata.resourceVersion, before?.metadata.resourceVersion]),
  );
  mirror.beginList();
  objects.forEach(mirror.addListed.bind(mirror));
  mirror.completeList('10');
  told.length = 0;
  return { mirror, told };
}

const put = (object: Thing) => ({ type: 'put', object }) as const;
const remove = (object: Thing) => ({ type: 'remove', object }) as const;
const bookmark = (resourceVersion: string, initialEnd = false) =>
  ({ type: 'bookmark', resourceVersion, initialEnd }) as const;

test('resourceVersions are compared as numbers of any length', () => {
  assert.ok(isNewer('10', '9'));
  assert.ok(!isNewer('9', '10'));
  assert.ok(!isNewer('10', '10'));
  assert.ok(isNewer('9007199254740993', '9007199254740992'));
});

test('handlers receive events in order, each with the previous state', () => {
  const { mirror, told } = mirrorWith(thing('a', 1));
  mirror.apply(put(thing('a', 11)));
  mirror.apply(put(thing('b', 12)));
  mirror.apply(remove(thing('a', 13)));
  assert.deepEqual(told, [
    ['a', '11', '1'],
    ['b', '12', undefined],
    ['a', undefined, '11'],
  ]);
  assert.equal(mirror.resourceVersion, '13');
});

test('a state, deletion or bookmark older than the stored version is ignored', () => {
  const { mirror, told } = mirrorWith(thing('a', 1));
  mirror.apply(put(thing('a', 12, { done: true })));
  const before = [...told];
  for (const late of [
    put(thing('a', 11)),
    put(thing('b', 9)),
    remove(thing('a', 11)),
    bookmark('11'),
  ])
    assert.equal(mirror.apply(late), false);
  assert.deepEqual(told, before);
  assert.equal(mirror.resourceVersion, '12');
  assert.equal(
    mirror.apply(put(thing('a', 12, { done: true }))),
    true,
    'twice the same is not older',
  );
});

test('a deleted and recreated object gives two events, not an update', () => {
  const { mirror, told } = mirrorWith(thing('a', 1));
  mirror.apply(put(thing('a', 12, { uid: 'a-2' })));
  assert.deepEqual(told, [
    ['a', undefined, '1'],
    ['a', '12', undefined],
  ]);
});

test('an object that the filter drops is removed and reported as deleted once', () => {
  const { mirror, told } = mirrorWith(thing('a', 1));
  mirror.apply(put(thing('a', 11, { done: true })));
  mirror.apply(put(thing('a', 12, { done: true })));
  mirror.apply(remove(thing('a', 13, { done: true })));
  assert.deepEqual(told, [['a', undefined, '1']]);
  assert.deepEqual(mirror.values(), []);
});

test('a relist removes missing objects, and reports others only if they changed', () => {
  const { mirror, told } = mirrorWith(thing('a', 1), thing('b', 2), thing('c', 3));
  mirror.invalidate();
  mirror.beginList();
  mirror.apply(put(thing('b', 2)));
  mirror.apply(put(thing('c', 15)));
  assert.deepEqual(told, [['c', '15', '3']]);
  mirror.apply(bookmark('20', true));
  assert.deepEqual(told, [
    ['c', '15', '3'],
    ['a', undefined, '1'],
  ]);
  assert.equal(mirror.resourceVersion, '20');
});

test('an interrupted list removes nothing and leaves no version to resume from', () => {
  const { mirror } = mirrorWith(thing('a', 1), thing('b', 2));
  mirror.beginList();
  mirror.apply(put(thing('a', 1)));
  mirror.apply(bookmark('15'));
  assert.equal(mirror.resourceVersion, undefined, 'a bookmark inside the list is no end of it');
  mirror.beginList();
  mirror.apply(put(thing('b', 2)));
  mirror.apply(bookmark('16', true));
  assert.deepEqual(
    mirror.values().map(({ metadata }) => metadata.name),
    ['b'],
  );
});

test('an object deleted while the list is streamed is removed, although it was listed', () => {
  const { mirror } = mirrorWith();
  mirror.beginList();
  mirror.apply(put(thing('a', 5)));
  mirror.apply(remove(thing('a', 12)));
  mirror.apply(bookmark('12', true));
  assert.deepEqual(mirror.values(), []);
});

test('the cache is synced from its first complete list on, relists included', () => {
  const mirror = createObjectCache<Thing>(
    (object) => object,
    () => undefined,
  );
  mirror.beginList();
  mirror.apply(put(thing('a', 1)));
  assert.equal(mirror.synced, false);
  mirror.apply(bookmark('3', true));
  assert.equal(mirror.synced, true);
  mirror.invalidate();
  mirror.beginList();
  assert.equal(mirror.synced, true, 'a relist is no reason to stop the work');
});

test('an own write is applied at once; its watch event and older ones are ignored', () => {
  const { mirror, told } = mirrorWith(thing('a', 1));
  mirror.applyWrite(thing('a', 15));
  mirror.apply(put(thing('a', 12)));
  assert.equal(mirror.get('a')?.metadata.resourceVersion, '15');
  mirror.apply(put(thing('a', 15)));
  mirror.apply(put(thing('a', 18)));
  assert.deepEqual(told, [
    ['a', '15', '1'],
    ['a', '18', '15'],
  ]);
});

test('an older event does not bring back a request that an own write finished', () => {
  const { mirror, told } = mirrorWith(thing('a', 1));
  mirror.applyWrite(thing('a', 15, { done: true }));
  mirror.apply(put(thing('a', 12)));
  mirror.apply(put(thing('a', 15, { done: true })));
  assert.deepEqual(told, [['a', undefined, '1']]);
});

test('a response after its own watch event or after the deletion is ignored', () => {
  const { mirror, told } = mirrorWith(thing('a', 1));
  mirror.apply(put(thing('a', 11)));
  mirror.apply(put(thing('a', 13)));
  mirror.applyWrite(thing('a', 11));
  assert.equal(mirror.get('a')?.metadata.resourceVersion, '13');
  mirror.apply(remove(thing('a', 14)));
  mirror.applyWrite(thing('a', 13));
  assert.equal(mirror.get('a'), undefined);
  assert.equal(told.length, 3);
});

test('an old response that arrives during a list is ignored', () => {
  const { mirror } = mirrorWith(thing('a', 5));
  mirror.beginList();
  mirror.applyWrite(thing('a', 4));
  assert.equal(mirror.get('a')?.metadata.resourceVersion, '5');
});

test('a list older than the process’s own write does not remove the written object', () => {
  const { mirror } = mirrorWith();
  mirror.beginList();
  mirror.applyWrite(thing('new', 25));
  mirror.apply(bookmark('20', true));
  assert.equal(mirror.get('new')?.metadata.resourceVersion, '25');
  // A bookmark past the write without its object: it came and went.
  mirror.beginList();
  mirror.apply(bookmark('30', true));
  assert.equal(mirror.get('new'), undefined);
});

test('after a restore of etcd from a backup, smaller versions are accepted again', () => {
  const { mirror } = mirrorWith(thing('a', 1));
  mirror.applyWrite(thing('a', 90));
  mirror.invalidate();
  mirror.beginList();
  mirror.apply(put(thing('a', 5)));
  mirror.apply(bookmark('6', true));
  assert.equal(mirror.get('a')?.metadata.resourceVersion, '5');
});

test('clearing the cache reports every object as deleted', () => {
  const { mirror, told } = mirrorWith(thing('a', 1), thing('b', 2));
  mirror.clear();
  assert.deepEqual(told, [
    ['a', undefined, '1'],
    ['b', undefined, '2'],
  ]);
  assert.equal(mirror.synced, false);
});
