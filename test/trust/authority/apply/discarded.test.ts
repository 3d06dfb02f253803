// SPDX-License-Identifier: Apache-2.0
/**
 * A CA that was prepared and is discarded: its CRL is signed for as long as the status lists it
 * (ADR 0051).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { retiredId, RETIRED_CERTIFICATE, RETIRED_KEY } from '#api/signer/rotation-annotations.ts';
import { applyStep } from '#trust/authority/apply/apply-step.ts';
import type { PatchOperation } from '#trust/authority/apply/secret-patch.ts';
import type { RotationStep } from '#ca/rotation/next-step.ts';
import { certificateAuthority } from '../../../support/ca/generated.ts';
import {
  A,
  B,
  certificate,
  fingerprintOf,
  keyOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';
import { recordedClient } from '../../../support/kube/recorded-client.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';

const CRL = { 'profile.crl': { validity: '24h' } };
const DISCARD = { kind: 'discard' } as const;
const MAKE = { kind: 'make', slot: 'next' } as RotationStep;

/** Which entries of the Secret with A in `tls.*` and B in `next.*` are written, and with what. */
async function written(
  signer: ClusterSigner,
  step: RotationStep,
): Promise<ReadonlyMap<string, string | undefined>> {
  const client = recordedClient();
  const init = { client, create: () => certificateAuthority({}), version: '1.2.3' } as never;
  const next = { 'next.crt': certificate(B).toString(), 'next.key': keyOf(B) };
  const { managed } = signer.spec.authority;
  assert.ok(managed !== undefined);
  await applyStep(init, { signer, managed, secret: secret(A, next), step, now: NOW });
  const [request] = client.requests;
  const operations = (request?.body ?? []) as readonly (PatchOperation & { value?: string })[];
  return new Map(
    operations.flatMap(({ op, path, value }): [string, string | undefined][] => {
      const [, key] = /^\/data\/(.+)$/.exec(path) ?? [];
      return key === undefined ? [] : [[key, op === 'remove' ? undefined : value]];
    }),
  );
}

const id = retiredId(fingerprintOf(B));
const base64 = (text: string): string => Buffer.from(text).toString('base64');

for (const [law, step] of [
  ['is discarded', DISCARD],
  ['another takes the place of', MAKE],
] as const) {
  test(`with CRLs, a prepared CA that ${law} keeps its key in the same write`, async () => {
    const data = await written(workload(CRL), step);
    assert.equal(data.get(RETIRED_CERTIFICATE.of(id)), base64(certificate(B).toString()));
    assert.equal(data.get(RETIRED_KEY.of(id)), base64(keyOf(B)));
    assert.notEqual(data.get('next.key'), base64(keyOf(B)));
    assert.ok(data.has('next.key'));
  });
}

test('without CRLs, it keeps none', async () => {
  const data = await written(workload(), DISCARD);
  assert.deepEqual([...data.keys()].sort(), ['next.crt', 'next.key']);
});

for (const [whose, stolen] of [
  ['it', B],
  ['the CA beside it, whose thief has both,', A],
] as const) {
  test(`it keeps none where ${whose} is distrusted`, async () => {
    const distrusted = { 'authority.managed.distrusted': [fingerprintOf(stolen)] };
    const data = await written(workload({ ...CRL, ...distrusted }), DISCARD);
    assert.deepEqual([...data.keys()].sort(), ['next.crt', 'next.key']);
  });
}
