// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Host } from '#component/host.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { createHost } from '#app/host.ts';

function setVariable(t: TestContext, name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  t.after(() => {
    if (before === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = before;
  });
}

test('a component reads the proxy of the environment from its host', (t) => {
  setVariable(t, 'HTTPS_PROXY', 'http://proxy.example:3128');
  const [component] = COMPONENTS.values();
  assert.ok(component !== undefined);
  const host = createHost(component, {} as never);
  assert.equal(host.egressProxy()?.origin.origin, 'http://proxy.example:3128');
});

type Run = (host: Host) => Promise<void>;

/** The components that call servers outside of the cluster. */
const RUNS: readonly (readonly [name: string, load: () => Promise<Run>])[] = [
  ['acme-solver', async () => (await import('#acme/acme-solver/run.ts')).run as Run],
  ['authority', async () => (await import('#trust/authority/run.ts')).run as Run],
  ['external-signer', async () => (await import('#requests/external-signer/run.ts')).run],
  ['ledger', async () => (await import('#ledger/ledger/run.ts')).run as Run],
  ['acme', async () => (await import('#acme/acme/run.ts')).run as Run],
  ['federation', async () => (await import('#trust/federation/run.ts')).run as Run],
  ['notifier', async () => (await import('#notify/notifier/run.ts')).run as Run],
];

for (const [name, load] of RUNS)
  test(`a malformed proxy ends ${name} before it starts`, async () => {
    const run = await load();
    const malformed = new Error('malformed');
    let isStarted = false;
    const flags = {
      federate: [],
      ownTrustDomain: [],
      endedTrustDomain: [],
      target: new Map([['a', new URL('https://a.example')]]),
      targetEvents: new Map(),
      handshake: new Map(),
      targetNetwork: [],
      resolver: [],
      namespacedNetwork: [],
    };
    const host = {
      flags,
      egressProxy: () => {
        throw malformed;
      },
      run: () => Promise.resolve(void (isStarted = true)),
    } as unknown as Host;
    await assert.rejects(run(host), malformed);
    assert.equal(isStarted, false);
  });
