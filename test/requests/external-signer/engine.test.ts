// SPDX-License-Identifier: Apache-2.0
/** A secrets engine has one limiter, however its signers spell it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POD, SIGNER, json, podObject, signerObject, World } from './world.ts';

const DEFAULT_PORT = 'https://vault.example.com';
const SPELLINGS: readonly [what: string, one: object, other: object][] = [
  ['its default port', { server: DEFAULT_PORT }, { server: `${DEFAULT_PORT}:443` }],
  // Vault reads a namespace from the path as well as from X-Vault-Namespace.
  [
    'its namespace in the path',
    { namespace: 'team', mount: 'pki' },
    { namespace: undefined, mount: 'team/pki' },
  ],
];

for (const [what, one, other] of SPELLINGS) {
  test(`an engine named with and without ${what} has one limiter`, async () => {
    const it = new World();
    it.vault.sign = () => json(429, { errors: [] }, { 'retry-after': '3600' });
    [one, other].forEach((vault, index) => {
      const name = `signer-${index}`;
      const signerName = `example.com/${name}`;
      const signer = signerObject({ signerName }, vault);
      it.api.put(SIGNER.replace('corporate', name), {
        ...signer,
        metadata: { ...signer.metadata, name, uid: name },
      });
      const pod = podObject({ signerName, podName: name, podUID: name });
      const metadata = { ...pod.metadata, name, uid: `request-${index}` };
      it.api.put(POD.replace('req-web-0', name), { ...pod, metadata });
    });
    it.api.put(SIGNER, signerObject());
    await it.start();
    try {
      await it.until(() => it.vault.orders.length > 0);
      await it.advance(60_000);
      assert.equal(it.vault.orders.length, 1);
    } finally {
      await it.stop();
    }
  });
}
