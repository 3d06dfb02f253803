// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatRecord,
  formatRestartedAt,
  parseRecord,
  restartedAtOf,
  RESTARTED_AT,
} from '#workloads/refresh/record.ts';
import { workloadOf } from './world.ts';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];

const labelled = (text: string): ReturnType<typeof workloadOf> => {
  const workload = workloadOf({ namespace: 'team-a', name: 'web', secrets: [] });
  return { ...workload, metadata: { ...workload.metadata, labels: { [RESTARTED_AT]: text } } };
};

test('a record is read as it was written, whatever the order', () => {
  const record = new Map([
    ['secret/web-tls', A],
    ['bundle/example.com:workload:primary', B],
  ]);
  const text = formatRecord(record);
  assert.equal(text, `bundle/example.com:workload:primary=${B},secret/web-tls=${A}`);
  assert.deepEqual(new Map(parseRecord(text)), record);
  assert.equal(formatRecord(parseRecord(text)), text);
});

test('what is malformed is not recorded', () => {
  assert.deepEqual(
    [...parseRecord(`secret/x=abc,,=${A},secret/web-tls=${B}`)],
    [['secret/web-tls', B]],
  );
  assert.equal(parseRecord(undefined).size, 0);
});

test('the time is a label value that Kubernetes accepts, and is read again', () => {
  const time = Date.UTC(2026, 10, 22, 13, 35, 7);
  const text = formatRestartedAt(time + 999);
  assert.equal(text, '20261122T133507Z');
  // k8s.io/apimachinery, validation.IsValidLabelValue
  assert.match(text, /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/);
  assert.equal(restartedAtOf(labelled(text)), time);
  for (const wrong of ['', 'yesterday', '20261399T000000Z'])
    assert.equal(restartedAtOf(labelled(wrong)), undefined);
});
