// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CSR, ISSUER, csrObject, issuerObject, startReady } from './world.ts';

test('18. a waiting request reconciles once per change of its issuer’s Ready only', async () => {
  const it = await startReady();
  it.author.check = () => Promise.reject(new Error('CA is away'));
  const change = async (url: string, labels: Readonly<Record<string, string>>): Promise<void> => {
    const object = issuerObject({ authority: { url } }, { labels });
    it.api.put(ISSUER, { ...object, status: it.api.get(ISSUER)?.status });
    await it.settle();
  };
  await change('https://b.example.com', {});
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  const waited = (): number =>
    it.component.counted.filter(
      ([name, labels]) =>
        name === 'requests' && (labels as { reason?: string }).reason === 'IssuerNotReady',
    ).length;
  assert.equal(waited(), 1);
  // Checks go on failing; a label of the issuer changes.
  await it.time.advance(60_000);
  await change('https://b.example.com', { a: '1' });
  assert.equal(waited(), 1);
  // A new spec: Ready becomes Unknown for it, then False again.
  await change('https://c.example.com', {});
  assert.equal(waited(), 1 + 2);
  await it.stop();
});
