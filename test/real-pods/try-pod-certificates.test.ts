// SPDX-License-Identifier: Apache-2.0
/**
 * A reader of Kubernetes' announcement starts `make cluster ARGS=--real-pods` and pastes the
 * commands of docs/how-to/try-pod-certificates.md, in this order.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startPersonsCluster, type PersonsCluster } from './persons-cluster.ts';
import { SKIP } from './stand.ts';

const PAGE = readFileSync(
  join(import.meta.dirname, '../../docs/how-to/try-pod-certificates.md'),
  'utf8',
);
/** What a person runs, and what they see. */
const [start = '', commands = '', looks = ''] = blocks('sh');
const [shown = ''] = blocks('');
const [ID, CLIENT_ID] = ['server', 'client'].map(
  (each) => `spiffe://cluster.local/ns/try/sa/${each}`,
);

function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(/^```(?<language>\w*)\n(?<text>[^]*?)^```/gm)]
    .filter(({ groups }) => groups?.['language'] === language)
    .map(({ groups }) => groups?.['text'] ?? '');
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

test('the page takes five commands', () => {
  assert.deepEqual(linesOf(start), ['make cluster ARGS=--real-pods']);
  assert.equal(linesOf(start + commands).length, 5);
});

describe('pod certificates, from nothing', { skip: SKIP }, () => {
  let cluster: PersonsCluster | undefined;
  const home = mkdtempSync(join(tmpdir(), 'countersign-try-'));
  const paste = async (text: string): Promise<string> => {
    assert.ok(cluster);
    return cluster.paste(cluster.printed, text, home);
  };

  before(async () => {
    cluster = await startPersonsCluster(['--real-pods'], '# A certificate of an ACME server');
  });
  after(async () => {
    await cluster?.interrupt();
    rmSync(home, { recursive: true, force: true });
  });

  test('both clients verify the server, and the page shows what they say', async () => {
    const said = await paste(commands);
    for (const line of linesOf(shown)) assert.ok(said.includes(`${line}\n`), `${line}\n${said}`);
  });

  test('inspect and explain show what the pod was issued', async () => {
    const said = await paste(looks);
    for (const name of ['server.try.svc', 'server.try.svc.cluster.local', `${ID}`])
      assert.ok(said.includes(name), `${name}\n${said}`);
    assert.match(said, /^pod\/server in namespace try: Issued$/m);
  });

  test('the server refuses a SPIFFE ID that is not its client', async () => {
    // The server's own certificate is of the same CA, and names another ServiceAccount.
    const said = await paste(
      `kubectl exec -n try server -- /nodejs/bin/node /programs/by-spiffe.mjs || echo "exit $?"`,
    );
    assert.match(said, new RegExp(`^hello, URI:${ID}$`, 'm'));
    assert.match(said, /^exit 1$/m);
    assert.doesNotMatch(said, new RegExp(`${CLIENT_ID}`));
  });
});
