// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderToString } from 'preact-render-to-string';
import { recordedCertificates } from '#cli/sources/issued-certificates.ts';
import { issuedView } from '#console/views/issued.ts';
import type { Client } from '#kube/client/client.ts';

/** A ledger of so many records, none of which can be read as a certificate. */
function ledgerOf(total: number): Client {
  const record = { metadata: { name: 'x' }, record: { kind: 'checkpoint' } };
  const request = ({ query }: { query: Record<string, string | number | undefined> }): unknown => {
    const from = Number(query['continue'] ?? 0);
    const until = Math.min(from + Number(query['limit']), total);
    const items = Array.from({ length: until - from }, () => record);
    return { items, metadata: until < total ? { continue: String(until) } : {} };
  };
  // The search calls nothing else.
  return { request: (init: never) => Promise.resolve(request(init)) } as unknown as Client;
}

const cutAt = async (total: number): Promise<number | undefined> =>
  (await recordedCertificates(ledgerOf(total), { limit: 50, signer: 'a/b' })([])).cutAt;

test('a search that stops before the end of the ledger reports it', async () => {
  assert.equal(await cutAt(51), 50);
  assert.equal(await cutAt(50), undefined);
  assert.equal(await cutAt(3), undefined);
});

test('a page shows that its numbers are too low', () => {
  const page = (cut: number | undefined): string =>
    renderToString(
      issuedView(
        { prefix: 'p', now: 0 },
        { search: { from: 0 }, rows: [], total: 0, places: [], cutAt: cut },
      ),
    );
  assert.match(page(5_000), /Not complete: .*stopped at 5000 records/);
  assert.doesNotMatch(page(undefined), /Not complete/);
});
