// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { beyond, lacking } from '#kube/apply/objects/compare.ts';
import { marked } from '#kube/apply/objects/mark.ts';

/** Names of fields that nothing in the comparison knows. */
const KNOWN = new Set(['env', 'port', 'scope']);
const NAME = fc.stringMatching(/^[a-z]{1,4}$/).filter((name) => !KNOWN.has(name));
const SCALAR = fc.oneof(fc.stringMatching(/^[a-z]{1,5}$/), fc.integer({ min: 1 }), fc.boolean());
const { value: VALUE } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    SCALAR,
    fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
    fc.dictionary(NAME, tie('value'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
  ),
}));

/** The value with more members in its objects: `more_…`, which no generated name is. */
function enriched(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((each, index) => enriched(each, seed + index));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, each], index) => [
    key,
    enriched(each, seed + index + 1),
  ]);
  return { ...Object.fromEntries(members), ...(seed % 2 === 0 ? { more_field: 'x' } : {}) };
}

test('a value lacks nothing of itself, and has nothing beyond itself', () => {
  fc.assert(
    fc.property(VALUE, (value) => {
      assert.deepEqual(lacking(value, structuredClone(value)), []);
      assert.deepEqual(beyond(value, structuredClone(value)), []);
    }),
  );
});

test('what others add to objects is no reason to write, and all of it is found beyond', () => {
  fc.assert(
    fc.property(VALUE, fc.nat(3), (value, seed) => {
      const live = enriched(value, seed);
      assert.deepEqual(lacking(value, live), []);
      const added = JSON.stringify(live).split('"more_field"').length - 1;
      assert.equal(beyond(value, live).length, added);
    }),
  );
});

test('a changed scalar is found, by its path', () => {
  fc.assert(
    fc.property(fc.array(NAME, { minLength: 1, maxLength: 4 }), SCALAR, SCALAR, (path, a, b) => {
      fc.pre(a !== b);
      const at = (leaf: unknown): unknown =>
        path.reduceRight<unknown>((inner, key) => ({ [key]: inner, beside: 1 }), leaf);
      assert.deepEqual(lacking(at(a), at(b)), [`/${path.join('/')}`]);
    }),
  );
});

test('a list without keys is the same only item by item', () => {
  assert.deepEqual(lacking({ rules: [{ verbs: ['get'] }] }, { rules: [] }), ['/rules']);
  assert.deepEqual(lacking({ verbs: ['get', 'list'] }, { verbs: ['list', 'get'] }), [
    '/verbs/0',
    '/verbs/1',
  ]);
  assert.deepEqual(lacking({ verbs: ['get'] }, { verbs: ['get', 'escalate'] }), ['/verbs']);
});

test('a list that apply merges is compared by its key, whatever the order', () => {
  const desired = { containers: [{ name: 'a', image: 'x' }, { name: 'b' }] };
  const live = { containers: [{ name: 'b' }, { name: 'evil' }, { name: 'a', image: 'x' }] };
  assert.deepEqual(lacking(desired, live), []);
  assert.deepEqual(beyond(desired, live), ['/containers/evil']);
  assert.deepEqual(lacking(desired, { containers: [{ name: 'a', image: 'y' }] }), [
    '/containers/a/image',
    '/containers/b',
  ]);
});

test('quantities are compared by value', () => {
  const of = (cpu: unknown): object => ({ limits: { cpu } });
  for (const [a, b] of [
    ['1000m', '1'],
    ['0.5', '500m'],
    [2, '2'],
    ['1024Mi', '1Gi'],
    ['1e3', '1k'],
  ])
    assert.deepEqual(lacking(of(a), of(b)), [], `${String(a)} ${String(b)}`);
  assert.deepEqual(lacking(of('1Gi'), of('1G')), ['/limits/cpu']);
});

test('false is not the same as absent, which may mean true', () => {
  assert.deepEqual(lacking({ allowPrivilegeEscalation: false }, {}), ['/allowPrivilegeEscalation']);
});

test('an empty value is the same as none: the API server stores neither', () => {
  assert.deepEqual(lacking({ a: {}, b: [], c: '' }, {}), []);
  assert.deepEqual(beyond({}, { a: {}, b: [], c: '' }), []);
});

test('an emptyDir in the place of the source of a volume is beyond', () => {
  const desired = { volumes: [{ name: 'keys', projected: { sources: [] } }] };
  const live = { volumes: [{ name: 'keys', emptyDir: {} }] };
  assert.deepEqual(beyond(desired, live), ['/volumes/keys/emptyDir']);
  const empty = { volumes: [{ name: 'keys', emptyDir: {} }] };
  assert.deepEqual(beyond(empty, live), []);
});

test('the restart policy of a pod is filled in, and that of a container is beyond', () => {
  const desired = { containers: [{ name: 'signer' }] };
  assert.deepEqual(beyond(desired, { ...desired, restartPolicy: 'Always' }), []);
  const live = { containers: [{ name: 'signer', restartPolicy: 'Always' }] };
  assert.deepEqual(beyond(desired, live), ['/containers/signer/restartPolicy']);
});

test('what the API server fills in is not beyond; another value of the field is', () => {
  const live = { terminationMessagePath: '/dev/termination-log', imagePullPolicy: 'IfNotPresent' };
  assert.deepEqual(beyond({ name: 'x' }, { name: 'x', ...live }), []);
  assert.deepEqual(beyond({}, { imagePullPolicy: 'Never' }), ['/imagePullPolicy']);
});

test('names in paths are escaped as JSON pointers', () => {
  assert.deepEqual(lacking({ labels: { 'a/b~c': 'x' } }, { labels: {} }), ['/labels/a~1b~0c']);
});

test('the digest of what is applied does not depend on the order of members', () => {
  const of = (spec: unknown): unknown => {
    const owner = { apiVersion: 'x/v1', kind: 'X', name: 'x', uid: 'x', label: 'x' };
    const object = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec };
    return marked(object, owner).metadata.annotations;
  };
  fc.assert(
    fc.property(VALUE, (value) => {
      assert.deepEqual(of(reversed(value)), of(value));
      assert.notDeepEqual(of([value]), of(value));
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, reversed(each)]),
  );
}

test('the status subresource has to be there, and zero is no default of something else', () => {
  assert.deepEqual(lacking({ subresources: { status: {} } }, { subresources: {} }), [
    '/subresources/status',
  ]);
  assert.deepEqual(lacking({ a: [] }, {}), []);
  const secret = { secretName: 'x' };
  assert.deepEqual(beyond({ secret }, { secret: { ...secret, defaultMode: 420 } }), []);
  assert.deepEqual(beyond({ secret }, { secret: { ...secret, defaultMode: 0 } }), [
    '/secret/defaultMode',
  ]);
});

test('the API server fills in a targetPort equal to the port, and no other', () => {
  const desired = { ports: [{ port: 9402, protocol: 'TCP' }] };
  const live = (targetPort: number): unknown => ({
    ports: [{ port: 9402, protocol: 'TCP', targetPort }],
  });
  assert.deepEqual(beyond(desired, live(9402)), []);
  assert.equal(beyond(desired, live(9403)).length, 1);
});
