// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { draw } from './draw.ts';
import { PICTURE } from './main.ts';
import { record } from './record.ts';

test('the committed timeline equals a simulated run’s (make timeline updates it)', async () => {
  assert.equal(draw(await record()), readFileSync(PICTURE, 'utf8'));
});
