// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remedyCommand } from '#operations/signer-remedy.ts';
import { workload } from '../support/signers/workload-profile.ts';

const csr = {
  signerName: 'fleet.example.com/members',
  cluster: 'prod',
  bundle: 'root',
  rootFingerprint: `sha256:${'a'.repeat(64)}`,
};
const conditions = [{ type: 'Ready', status: 'False', reason: 'AwaitingCertificate' }] as const;

test('the remedy of a member that waits for its hub carries no request by hand', () => {
  const changes = { 'authority.managed.upstream': { csr } };
  const command = remedyCommand(workload(changes, { status: { conditions } })) ?? '';
  assert.match(command, /^countersign authority show workload {3}# .* hub for cluster prod$/);
});
