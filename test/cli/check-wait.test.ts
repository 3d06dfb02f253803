// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countersign } from '../support/cluster/countersign.ts';
import { openWrittenServer } from '../support/cluster/silent-server.ts';

for (const [flags, isPatient] of [
  [[], false],
  [['--wait', '1s'], true],
] as const) {
  const how = isPatient ? 'waits' : 'does not wait';
  test(`check ${flags.join(' ')} ${how} for an API server that is not available`, async (t) => {
    let reads = 0;
    const server = await openWrittenServer((_incoming, response) => {
      reads += 1;
      const [code, reason] = reads === 1 ? [503, 'ServiceUnavailable'] : [403, 'Forbidden'];
      const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason };
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...status, message: 'no' }));
    });
    t.after(() => server.close());
    const { stdout, stderr } = await countersign([
      'check',
      ...flags,
      '--kubeconfig',
      server.kubeconfig,
    ]);
    assert.match(stderr, /GET \/version: 503 ServiceUnavailable/);
    assert.equal(/^waiting: GET \/version: 503/m.test(stderr), isPatient);
    assert.equal(stdout !== '', isPatient, stdout);
  });
}
