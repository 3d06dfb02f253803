// SPDX-License-Identifier: Apache-2.0
/** Signatures of webhooks, judged by the library of Standard Webhooks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { readSecrets, signatureFields } from '#base/egress/webhook-signature.ts';

const OLD = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const NEW = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

/** The library refuses what is older than five minutes, by the clock of the machine. */
function accepts(secret: string, body: string, fields: Readonly<Record<string, string>>): boolean {
  try {
    new Webhook(secret).verify(body, { ...fields });
    return true;
  } catch (error) {
    // What it verified is read as JSON, and a note is none.
    return error instanceof SyntaxError;
  }
}

const message = fc.record({
  id: fc.stringMatching(/^[\w:-]{1,80}$/),
  at: fc.constant(Date.now()),
  body: fc.string({ unit: 'binary' }),
});

test('receivers with either secret accept a message signed with both, and no other', () => {
  fc.assert(
    fc.property(message, (signed) => {
      const fields = signatureFields(signed, [NEW, OLD]);
      assert.ok(accepts(NEW, signed.body, fields));
      assert.ok(accepts(OLD, signed.body, fields));
      assert.ok(!accepts(OTHER, signed.body, fields));
      assert.ok(!accepts(NEW, `${signed.body} `, fields));
      assert.ok(!accepts(NEW, signed.body, { ...fields, 'webhook-id': `${signed.id}x` }));
    }),
  );
});

test('signs a late message again for each attempt, since receivers refuse old ones', () => {
  const now = Date.now();
  const signed = { id: 'a', body: '{}' };
  assert.ok(accepts(NEW, '{}', signatureFields({ ...signed, at: now }, [NEW])));
  assert.ok(!accepts(NEW, '{}', signatureFields({ ...signed, at: now - 3_600_000 }, [NEW])));
});

test('a file has one secret a line, and an empty one has none', () => {
  assert.deepEqual(readSecrets(`${NEW}\r\n\n ${OLD} \n`), [NEW, OLD]);
  assert.deepEqual(readSecrets('\n'), []);
  const unsigned = signatureFields({ id: 'a', at: 1_000_500, body: '' }, []);
  assert.deepEqual(unsigned, { 'webhook-id': 'a', 'webhook-timestamp': '1000' });
});
