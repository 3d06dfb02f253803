// SPDX-License-Identifier: Apache-2.0
/** What `authority` records in the ledger, and that it never waits for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import type { AuthorityMaterial } from '#ca/custody/contract.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { createAuthorityRecords } from '#trust/authority/records.ts';
import { waitsForLedger } from '#app/ledger/options.ts';
import { random } from '../../support/ca/issuing.ts';
import { A, OURS, secret } from '../../support/trust/ca-secrets.ts';
import { KeptRecords, nextTurn } from '../../support/ledger/kept-records.ts';
import { NOW } from '../../support/pki/chain.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const create = createManagedAuthorities(random);
const made = (age: number): Promise<AuthorityMaterial> =>
  create({
    keyType: 'ECDSAP256',
    commonName: 'Example workload CA',
    durationSeconds: 8_760 * 3_600,
    crossSigned: true,
    now: NOW - age * 3_600_000,
  });
const [old, active, next] = [await made(3), await made(2), await made(1)];
const cross = await createCrossSign(random)({ old, next: active, now: NOW });
const factsOf = (of: AuthorityMaterial) => openLocalAuthority(of, NOW).facts;
const print = (of: AuthorityMaterial): string => factsOf(of).fingerprint;

const held = secret(
  A,
  {
    'tls.crt': active.certificate,
    'tls.key': active.key,
    'cross.crt': cross,
    'next.crt': next.certificate,
    'next.key': next.key,
  },
  OURS,
);

function listing(...authorities: readonly AuthorityMaterial[]): ClusterSignerStatus {
  return { authorities: authorities.map((each) => ({ fingerprint: print(each) })) } as never;
}

test('each CA that a status lists, and its cross-certificate, are recorded once', async () => {
  const ledger = new KeptRecords();
  const records = createAuthorityRecords({ recorder: ledger.recorder('best-effort', 'authority') });
  for (let times = 0; times < 2; times += 1) {
    records?.cas(workload(), held, listing(old, active, next));
    await nextTurn();
  }
  const kept = ledger.of('authority').map(({ purpose, ca }) => `${purpose} ${ca}`);
  assert.deepEqual(kept, [`ca ${print(active)}`, `ca ${print(next)}`, `cross ${print(old)}`]);
  assert.ok([...ledger.kept.keys()].every((key) => key.startsWith('authority/')));
});

test('a CA that another client put into a Secret, and no status lists, is not recorded', async () => {
  const ledger = new KeptRecords();
  const records = createAuthorityRecords({ recorder: ledger.recorder('best-effort', 'authority') });
  records?.cas(workload(), held, listing(active));
  const nonsense = secret(A, { 'tls.crt': 'no PEM', 'next.crt': cross, 'cross.crt': 'x' }, OURS);
  records?.cas(workload(), nonsense, listing(active, next));
  await nextTurn();
  assert.deepEqual(
    ledger.of('authority').map(({ ca }) => ca),
    [print(active)],
  );
});

test('a serving certificate is recorded with its CA, without waiting for the ledger', async () => {
  const ledger = new KeptRecords();
  ledger.away = true;
  const records = createAuthorityRecords({ recorder: ledger.recorder('best-effort', 'authority') });
  records?.serving(workload(), active.certificate, factsOf(old).certificate);
  assert.deepEqual(ledger.of('authority'), []);
  ledger.away = false;
  while (ledger.of('authority').length === 0) await nextTurn();
  const [record] = ledger.of('authority');
  assert.deepEqual([record?.purpose, record?.ca], ['serving', print(old)]);
  assert.equal(waitsForLedger('authority', { ledgerMode: 'required' }), false);
  assert.equal(waitsForLedger('signer', { ledgerMode: 'required' }), true);
});

test('without a ledger there is nothing that records', () => {
  assert.equal(createAuthorityRecords({}), undefined);
});
