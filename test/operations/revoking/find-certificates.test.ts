// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterSignersOf } from '#cli/sources/issued-certificates.ts';
import { issuedRow, wantedRows, type IssuedFilter } from '#operations/issued.ts';
import { holderOf, liveRequests } from '#operations/revoking/find-certificates.ts';
import { NOW } from '../../support/ca/issuing.ts';
import {
  LISTS,
  SIGNER,
  alices,
  base64,
  cluster,
  managers,
  pods,
} from '../../support/requests/revoking.ts';
import { changed, clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';

const OTHER = 'example.com/other';

/** A tenant's CertificateRequests with copies of these certificates, for both ClusterSigners. */
const copies = [alices, pods, managers].flatMap((leaf) =>
  ['workload', 'another'].map((name) => ({
    metadata: { namespace: 'team-z', name: `copy-${name}` },
    spec: { issuerRef: { group: 'countersign.dev', kind: 'ClusterSigner', name } },
    status: { certificate: base64(leaf) },
  })),
);

const lists = {
  ...LISTS,
  clustersigners: [
    ...(LISTS['clustersigners'] ?? []),
    {
      ...clusterSigner(changed(workloadSpec(), 'signerName', OTHER)),
      metadata: { name: 'another' },
    },
  ],
  certificaterequests: [...(LISTS['certificaterequests'] ?? []), ...copies],
};

async function sourcesOf(filter: Partial<IssuedFilter>): Promise<readonly string[]> {
  const client = cluster({}, lists);
  const { found } = await liveRequests(client)(await clusterSignersOf(client));
  const rows = found.map((each) => {
    const { chain, signerName, namespace, source } = each;
    return issuedRow(chain[0], { signerName, holder: holderOf(each), namespace, source });
  });
  return wantedRows(rows, { expired: true, ...filter }, NOW).map(({ source }) => source);
}

const ALICE = 'csr certificatesigningrequests-0';
const POD = 'podcertificaterequest team-a/podcertificaterequests-0';

const filters: readonly [Partial<IssuedFilter>, string][] = [
  [{ holder: 'user alice', signer: SIGNER }, ALICE],
  [{ san: 'alice.example', signer: SIGNER }, ALICE],
  [{ holder: 'pod team-a/web-0' }, POD],
  [{ namespace: 'team-a' }, POD],
];

for (const [filter, source] of filters) {
  test(`a copy hides not ${source} from a search by ${Object.keys(filter).join()}`, async () => {
    assert.deepEqual(await sourcesOf(filter), [source]);
  });
}

test('a copy for another signer hides no certificate of a CertificateRequest', async () => {
  const source = 'certificaterequest team-a/certificaterequests-0';
  assert.deepEqual(await sourcesOf({ san: 'cm.example', signer: SIGNER }), [source]);
});
