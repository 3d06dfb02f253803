// SPDX-License-Identifier: Apache-2.0
/** `countersign fleet leave` against an API server that has objects of a member, or none. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { openWrittenServer } from '../support/cluster/silent-server.ts';
import { hubSigner } from '../support/requests/intermediate.ts';

/**
 * @param has - whether the API server has the object of a path
 * @param items - the ClusterSigners of the hub
 */
async function leave(
  t: TestContext,
  has: (path: string) => boolean,
  items: readonly object[] = [],
): Promise<CommandResult> {
  const server = await openWrittenServer(({ method, url = '' }, response) => {
    const code = method === 'DELETE' && !has(url) ? 404 : 200;
    const reason = code === 404 ? { reason: 'NotFound' } : {};
    response.writeHead(code, { 'content-type': 'application/json' });
    const list = { kind: 'ClusterSignerList', metadata: {}, items };
    const apiVersion = 'countersign.dev/v1alpha1';
    response.end(JSON.stringify({ apiVersion, code, ...list, ...reason }));
  });
  t.after(() => server.close());
  const args = ['fleet', 'leave', 'prod', '--signer', 'fleet.example.com/members'];
  return countersign([...args, '--kubeconfig', server.kubeconfig]);
}

test('nothing is reported as removed of a cluster that is no member', async (t) => {
  const { code, stdout, stderr } = await leave(t, () => false);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^cluster prod is no member: .* nothing is removed/);
});

test('a member leaves also if an earlier run removed only its account', async (t) => {
  const { code, stdout, stderr } = await leave(t, (path) => !path.includes('/serviceaccounts/'));
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^cluster prod left/);
});

test('the printed end counts the longest life that a CA of the hub ever granted', async (t) => {
  const time = (days: number): string =>
    new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+/, '');
  const { spec, ...rest } = hubSigner([{}], { profile: { maxDuration: '24h' } });
  const authority = { fingerprint: 'sha256:0', phase: 'Active', longestLeaf: '720h' };
  const status = { authorities: [{ ...authority, notBefore: time(-10), notAfter: time(1_000) }] };
  const { code, stdout, stderr } = await leave(t, () => true, [{ ...rest, spec, status }]);
  assert.equal(code, 0, stderr);
  const [, end = ''] = /stay valid until (\S+)/.exec(stdout) ?? [];
  assert.ok(Date.parse(end) > Date.parse(time(29)), stdout);
});
