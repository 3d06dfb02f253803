// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { MAIN } from '../../support/cluster/countersign.ts';

/** What `countersign rbac` prints for these flags, without a cluster. */
async function printed(...flags: readonly string[]): Promise<string> {
  const args = [MAIN, 'rbac', '--signer=example.com/workload', ...flags];
  const env = { ...process.env, KUBECONFIG: '/nowhere', HOME: '/nowhere' };
  return (await promisify(execFile)(process.execPath, args, { env })).stdout;
}

test('rbac prints the wildcard of a domain only for --signer-domain', async () => {
  assert.doesNotMatch(await printed(), /example\.com\/\*/);
  const text = await printed('--signer-domain=example.com');
  assert.equal(text.match(/^ +- example\.com\/\*$/gm)?.length, 4);
  assert.match(text, /in \['example\.com'\]/);
});

test('rbac refuses a domain that is not of a named signer, or is not yours', async () => {
  for (const [domain, message] of [
    ['example.org', /has none of the signers that are named/],
    ['kubernetes.io', /has signers that are not yours/],
    ['*.com', /is not a domain/],
    ['example.com/*', /is not a domain/],
  ] as const)
    await assert.rejects(printed(`--signer-domain=${domain}`), message);
});
