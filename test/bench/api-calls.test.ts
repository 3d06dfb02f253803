// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countApiCalls } from '../../bench/measure/api-calls.ts';

/** As an API server v1.37.1 writes it. */
const line = (verb: string, resource: string, count: string): string =>
  `apiserver_request_total{code="200",component="apiserver",dry_run="",group="certificates.k8s.io",` +
  `resource="${resource}",scope="resource",subresource="status",verb="${verb}",version="v1"} ${count}`;

test('every verb is a call, and what changes the store is a mutating one', () => {
  const text = [
    '# TYPE apiserver_request_total counter',
    line('PUT', 'podcertificaterequests', '1e+04'),
    line('LIST', 'podcertificaterequests', '20'),
    line('PATCH', 'events', '3'),
    'apiserver_request_terminations_total{verb="PUT"} 7',
  ].join('\n');
  assert.deepEqual(countApiCalls(text), { all: 10_023, mutating: 10_003 });
});

test('a review is a call and changes nothing', () => {
  const text = line('POST', 'selfsubjectaccessreviews', '12');
  assert.deepEqual(countApiCalls(text), { all: 12, mutating: 0 });
});
