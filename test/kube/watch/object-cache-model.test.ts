// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createObjectCache } from '#kube/watch/object-cache.ts';
import { isNewer } from '#kube/resource/object.ts';

interface Thing {
  readonly metadata: { name: string; uid: string; resourceVersion: string };
  readonly done: boolean;
}

interface Written {
  readonly type: 'put' | 'remove';
  readonly object: Thing;
}

/** A server's collection: what is there, and all that ever happened. */
class Collection {
  readonly objects = new Map<string, Thing>();
  readonly history: Written[] = [];

  get version(): string {
    return String(100 + this.history.length);
  }

  write(name: string, done: boolean): Thing {
    const uid = this.objects.get(name)?.metadata.uid ?? `${name}-${this.history.length}`;
    return this.#add('put', { metadata: { name, uid, resourceVersion: '' }, done });
  }

  remove(name: string): void {
    const object = this.objects.get(name);
    if (object !== undefined) this.#add('remove', object);
  }

  #add(type: Written['type'], { metadata, done }: Thing): Thing {
    const resourceVersion = String(101 + this.history.length);
    const object = { metadata: { ...metadata, resourceVersion }, done };
    this.history.push({ type, object });
    if (type === 'put') this.objects.set(metadata.name, object);
    else this.objects.delete(metadata.name);
    return object;
  }
}

const name = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ kind: fc.constant('others' as const), name, done: fc.boolean() }),
  fc.record({ kind: fc.constant('ours' as const), name, done: fc.boolean() }),
  fc.record({ kind: fc.constant('remove' as const), name }),
  fc.record({ kind: fc.constant('answer' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('bookmark' as const) }),
  fc.record({ kind: fc.constant('relist' as const), listed: fc.nat(3), whole: fc.boolean() }),
);

/** Runs one history of writes, late events, late answers and relists; returns what was held. */
function run(steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]): {
  held: unknown;
  server: unknown;
} {
  const server = new Collection();
  const last = new Map<string, Thing>();
  const mirror = createObjectCache<Thing>(
    (object) => (object.done ? undefined : object),
    (_key, now) => {
      if (now === undefined) return;
      const before = last.get(now.metadata.uid);
      assert.ok(
        before === undefined ||
          isNewer(now.metadata.resourceVersion, before.metadata.resourceVersion),
        `${now.metadata.name} went back from ${String(before?.metadata.resourceVersion)}`,
      );
      last.set(now.metadata.uid, now);
    },
  );
  const answers: Thing[] = [];
  let delivered = 0;
  const deliver = (count: number): void => {
    for (const event of server.history.slice(delivered, delivered + count)) mirror.apply(event);
    delivered = Math.min(delivered + count, server.history.length);
  };
  const list = (): void => {
    mirror.invalidate();
    mirror.beginList();
    for (const object of server.objects.values()) mirror.apply({ type: 'put', object });
    mirror.apply({ type: 'bookmark', resourceVersion: server.version, initialEnd: true });
    delivered = server.history.length;
  };
  /** A list that ends early: only another list can follow. */
  const breakOff = (listed: number): void => {
    mirror.beginList();
    for (const object of [...server.objects.values()].slice(0, listed))
      mirror.apply({ type: 'put', object });
  };
  list();
  for (const each of steps) {
    switch (each.kind) {
      case 'others':
        server.write(each.name, each.done);
        break;
      case 'ours':
        answers.push(server.write(each.name, each.done));
        break;
      case 'remove':
        server.remove(each.name);
        break;
      case 'answer':
        for (const answer of answers.splice(each.pick % (answers.length + 1), 1))
          mirror.applyWrite(answer);
        break;
      case 'deliver':
        deliver(each.count);
        break;
      case 'bookmark':
        // As the server sends it: of the moment up to which the watch has got everything.
        if (mirror.resourceVersion !== undefined)
          mirror.apply({
            type: 'bookmark',
            resourceVersion: String(100 + delivered),
            initialEnd: false,
          });
        break;
      case 'relist':
        if (each.whole) list();
        else {
          breakOff(each.listed);
          list();
        }
        break;
    }
  }
  deliver(server.history.length);
  for (const answer of answers) mirror.applyWrite(answer);
  const text = (objects: Iterable<Thing>): string[] =>
    [...objects]
      .filter(({ done }) => !done)
      .map((each) => JSON.stringify(each))
      .sort();
  return { held: text(mirror.values()), server: text(server.objects.values()) };
}

test('in any order of events and responses the cache converges and no object goes back', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { held, server } = run(steps);
      assert.deepEqual(held, server);
    }),
    { numRuns: 2_000 },
  );
});
