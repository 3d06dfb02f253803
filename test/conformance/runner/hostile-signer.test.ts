// SPDX-License-Identifier: Apache-2.0
/** What a signer can do, by its answers, to the process that judges it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#api/object/object.ts';
import { startRecorder, type Recorder } from '#conformance/runner/recorder.ts';
import type { Run } from '#conformance/runner/run.ts';
import { readChain } from '#conformance/issued-leaf.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import { resource } from '#kube/resource/resource.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

/** What etcd holds of one object. */
const LARGEST = 1_572_864;

test('a megabyte of BEGIN lines is read once', { timeout: 20_000 }, () => {
  const line = '-----BEGIN x-----\n';
  assert.equal(readChain(line.repeat(LARGEST / line.length)), 'the text has no certificate');
});

test('text between the blocks of a chain is skipped', async () => {
  const [a, b] = [await tlsCertificate('a'), await tlsCertificate('b')];
  const chain = readChain(`first:\n${a.cert}-----\nthen:\n${b.cert}-----BEGIN x-----\nlast`);
  assert.equal(typeof chain === 'string' ? chain : chain.length, 2);
});

/** A recorder of a run that may not watch, and gets no answer. */
async function startUnwatched(): Promise<Recorder<KubeObject>> {
  const ended = new AbortController();
  const run = {
    signal: ended.signal,
    clock: () => 0,
    client: { request: () => Promise.reject(new Error('away')) },
    delay: (_ms: number, signal: AbortSignal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('ended'))),
      ),
  } as unknown as Run;
  return startRecorder<KubeObject>(run, { resource: resource(CSR_RESOURCE), mayWatch: false });
}

test('of a request that is written without end a bounded number of versions is kept', async () => {
  const recorder = await startUnwatched();
  for (let version = 1; version <= 10_000; version += 1) {
    const metadata = { name: 'a', uid: 'u', resourceVersion: String(version) };
    recorder.add({ metadata } as unknown as KubeObject);
  }
  const versions = recorder.versionsOf('u');
  assert.ok(versions.length <= 100);
  assert.equal(versions[0]?.object.metadata.resourceVersion, '1');
  assert.equal(versions.at(-1)?.object.metadata.resourceVersion, '10000');
  assert.equal(recorder.isComplete, false);
  await recorder.stop();
});

test('large versions are kept up to a total, and the newest of each request always', async () => {
  const recorder = await startUnwatched();
  const note = 'x'.repeat(LARGEST);
  const uids = Array.from({ length: 20 }, (_, index) => `u${index}`);
  for (let version = 1; version <= 10; version += 1) {
    for (const uid of uids) {
      const metadata = { name: uid, uid, resourceVersion: String(version) };
      recorder.add({ metadata, note: version === 1 ? '' : note } as unknown as KubeObject);
    }
  }
  const all = uids.map((uid) => recorder.versionsOf(uid));
  const large = all.flat().filter(({ object }) => 'note' in object && object.note !== '');
  assert.ok(large.length * LARGEST <= 64 * 1024 * 1024, `${large.length} of 180 are kept`);
  for (const versions of all) {
    assert.equal(versions[0]?.object.metadata.resourceVersion, '1');
    assert.equal(versions.at(-1)?.object.metadata.resourceVersion, '10');
  }
  assert.equal(recorder.isComplete, false);
  await recorder.stop();
});
