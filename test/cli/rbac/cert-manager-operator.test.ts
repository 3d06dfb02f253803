// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { MAIN } from '../../support/cluster/countersign.ts';

/** What `countersign rbac --cert-manager-operator` prints. Rejects where it exits with an error. */
async function printed(...flags: readonly string[]): Promise<string> {
  const args = [MAIN, 'rbac', '--cert-manager-operator', ...flags];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}

test('never prints the operator of cert-manager for a namespace with other contents', async () => {
  const beside: readonly (readonly string[])[] = [
    ...['countersign-system', 'countersign-keys', 'cert-manager', 'kube-system', 'default'].map(
      (each) => [`--cert-manager-operator-namespace=${each}`],
    ),
    ['--namespace=pki', '--cert-manager-operator-namespace=pki'],
    ['--secret-namespace=keys', '--cert-manager-operator-namespace=keys'],
  ];
  for (const flags of beside)
    await assert.rejects(printed(...flags), /name a namespace for it alone/, flags.join(' '));
  const text = await printed();
  assert.match(text, /^ {2}namespace: countersign-cert-manager$/m);
  assert.doesNotMatch(text, /countersign-system/);
});
