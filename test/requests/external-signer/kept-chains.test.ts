// SPDX-License-Identifier: Apache-2.0
/** The bytes of kept chains have a limit, and no undelivered chain pays for it. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openKeptChains, type KeptChains } from '#requests/external-signer/kept-chains.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { POD, podObject, startReady } from './world.ts';

const MAX_BYTES = 1024 * 1024;
const CHAIN = { chain: 'x'.repeat(60_000) };
const idOf = (index: number): string => String(index).padStart(64, '0');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kept-chains-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const open = (): Promise<KeptChains> =>
  openKeptChains(directory, { ...recordedComponent({ clock: () => 0 }), maxBytes: MAX_BYTES });

/** Orders, keeps and delivers a chain. @returns false if the order must wait */
async function keep(chains: KeptChains, index: number, isDelivered: boolean): Promise<boolean> {
  if (!chains.reserve(idOf(index))) return false;
  await chains.keep(idOf(index), CHAIN);
  chains.release(idOf(index));
  if (isDelivered) await chains.settled(idOf(index));
  return true;
}

/** Bytes of all files, as the kubelet counts those of an emptyDir. */
const bytesOnDisk = (): number =>
  readdirSync(directory)
    .map((name) => statSync(join(directory, name)).blocks * 512)
    .reduce((sum, each) => sum + each, 0);

test('however many chains are delivered, their files have a limit', async () => {
  const chains = await open();
  for (let index = 0; index < 100; index += 1) {
    assert.ok(await keep(chains, index, true));
    assert.ok(bytesOnDisk() <= MAX_BYTES, `${bytesOnDisk()} bytes`);
  }
  assert.equal(chains.get(idOf(0)), undefined);
  assert.deepEqual(chains.get(idOf(99)), CHAIN);
});

test('an undelivered chain is kept, and delivered ones are evicted in its place', async () => {
  const chains = await open();
  await keep(chains, 0, false);
  for (let index = 1; index < 100; index += 1) await keep(chains, index, true);
  assert.deepEqual(chains.get(idOf(0)), CHAIN);
  assert.ok(readdirSync(directory).includes(`${idOf(0)}.json`));
});

test('orders wait while undelivered chains have all the space, and a warning says so', async () => {
  const chains = await open();
  let kept = 0;
  while (kept < 100 && (await keep(chains, kept, false))) kept += 1;
  assert.ok(kept > 0 && kept < 100, `${kept} chains`);
  assert.match(chains.fault() ?? '', /not delivered yet .*no certificate is ordered/);
  await chains.settled(idOf(0));
  await chains.settled(idOf(1));
  await chains.settled(idOf(2));
  assert.ok(await keep(chains, kept, false));
  assert.equal(chains.fault(), undefined);
});

test('a new process knows which chains are delivered', async () => {
  const before = await open();
  let kept = 0;
  while (kept < 100 && (await keep(before, kept, false))) kept += 1;
  for (let index = 0; index < kept; index += 1) await before.settled(idOf(index));
  const chains = await open();
  assert.deepEqual(chains.get(idOf(kept - 1)), CHAIN);
  assert.ok(await keep(chains, kept, false));
});

test('orders that run have their space reserved', async () => {
  const chains = await open();
  let reserved = 0;
  while (reserved < 100 && chains.reserve(idOf(reserved))) reserved += 1;
  assert.ok(reserved > 0 && reserved < 100, `${reserved} orders`);
  chains.release(idOf(0));
  assert.ok(chains.reserve(idOf(reserved)));
});

test('a pod waits without an order while chains have no space, and gets one later', async () => {
  const it = await startReady();
  try {
    await it.end();
    it.maxBytes = 0;
    await it.start();
    it.api.put(POD, podObject());
    await it.advance(10_000);
    assert.equal(it.vault.orders.length, 0);
    await it.end();
    it.maxBytes = undefined;
    await it.start();
    await it.until(() => it.outcome().length > 0);
    assert.deepEqual([it.outcome(), it.vault.orders.length], [['Issued'], 1]);
    const names = readdirSync(it.directory);
    assert.ok(names.every((name) => name.endsWith('.delivered.json')) && names.length === 1);
  } finally {
    await it.stop();
  }
});
