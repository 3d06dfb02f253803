// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TextIndex } from '#base/text-index.ts';

interface Item {
  readonly key: string;
  readonly text: string;
}

test('whatever the changes, it finds what a walk over all objects finds', () => {
  const change = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    text: fc.constantFrom('x', 'y', undefined),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 50 }), (changes) => {
      const index = new TextIndex<Item>(({ text }) => text);
      const all = new Map<string, Item>();
      for (const { key, text } of changes) {
        const now = text === undefined ? undefined : { key, text };
        index.change(key, now, all.get(key));
        if (now === undefined) all.delete(key);
        else all.set(key, now);
        for (const each of ['x', 'y']) {
          const keys = (items: Iterable<Item>): readonly string[] =>
            [...items].map((item) => item.key).sort();
          const walked = [...all.values()].filter((item) => item.text === each);
          assert.deepEqual(keys(index.get(each)), keys(walked));
        }
      }
    }),
  );
});
