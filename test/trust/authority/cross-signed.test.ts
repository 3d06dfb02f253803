// SPDX-License-Identifier: Apache-2.0
/** ADR 0022: what becomes of `cross.crt` in a managed CA's Secret. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import type { AuthorityMaterial } from '#ca/custody/contract.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import type { PatchOperation } from '#trust/authority/apply/secret-patch.ts';
import type { RotationStep } from '#ca/rotation/next-step.ts';
import { NOW } from '../../support/pki/chain.ts';
import { random } from '../../support/ca/issuing.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { authorityActor } from '../../support/trust/authority-actor.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { A, OURS, after, planOf, secret } from '../../support/trust/ca-secrets.ts';

const create = createManagedAuthorities(random);
const crossSign = createCrossSign(random);
const HOUR = 3_600_000;
const made = (age: number, crossSigned = true): Promise<AuthorityMaterial> =>
  create({
    keyType: 'ECDSAP256',
    commonName: 'Example workload CA',
    durationSeconds: 8_760 * 3_600,
    crossSigned,
    now: NOW - age * HOUR,
  });
const [old, next] = [await made(2), await made(1)];
const printOf = (of: AuthorityMaterial): string => openLocalAuthority(of, NOW).facts.fingerprint;

const ON = { 'authority.managed.crossSigned': true };
const DISTRUSTED = 'authority.managed.distrusted';

/** Signs with this CA; `texts` are what else is in its Secret. */
const affected = (of: AuthorityMaterial, texts: Readonly<Record<string, string>> = {}): Secret =>
  secret(A, { 'tls.crt': of.certificate, 'tls.key': of.key, ...texts }, OURS);

const prepared = (of: AuthorityMaterial): Secret =>
  affected(of, { 'next.crt': next.certificate, 'next.key': next.key });

/** What the one write of the activation puts into cross.crt, and the Events that come with it. */
async function activated(
  signer: ClusterSigner,
  judged: Secret,
): Promise<{ readonly cross: string | undefined; readonly said: readonly string[] }> {
  const component = recordedComponent({ name: 'authority', clock: () => NOW });
  const operations: PatchOperation[] = [];
  component.client.answer(({ method, body }) => {
    if (method === 'PATCH') operations.push(...(body as PatchOperation[]));
    const found = operations.find(({ path }) => path === '/data/cross.crt');
    const data = found?.value === undefined ? {} : { 'cross.crt': found.value as string };
    return method === 'GET' ? signer : { ...judged, data };
  });
  const actor = authorityActor(component);
  const due = { reason: 'Requested', message: 'asked for', canWait: true } as const;
  const step: RotationStep = { kind: 'activate', due };
  const plan = { ...planOf({ signer }), step };
  await actor.apply({ signer, secret: judged, plan, clocksApart: false, now: NOW });
  assert.equal(component.client.requests.filter(({ method }) => method === 'PATCH').length, 1);
  const found = operations.find(({ path }) => path === '/data/cross.crt')?.value as string;
  return {
    cross: (found as string | undefined) && Buffer.from(found, 'base64').toString(),
    said: component.notes.map(({ reason }) => reason),
  };
}

test('the write that activates a successor includes its cross-certificate', async () => {
  const { cross, said } = await activated(workload(ON), prepared(old));
  assert.ok(cross !== undefined);
  const { facts } = openLocalAuthority({ ...next, cross }, NOW);
  assert.equal(facts.cross?.issuer, printOf(old));
  assert.deepEqual(said, ['AuthorityCrossSigned']);
});

test('without the option a successor gets no cross-certificate', async () => {
  assert.deepEqual(await activated(workload(), prepared(old)), { cross: undefined, said: [] });
});

const without: readonly (readonly [law: string, judged: Secret, signer?: ClusterSigner])[] = [
  ['that was made without it', prepared(await made(2, false))],
  ['whose key is lost', { ...prepared(old), data: { ...prepared(old).data, 'tls.key': '' } }],
  ['that is distrusted', prepared(old), workload({ ...ON, [DISTRUSTED]: [printOf(old)] })],
];
for (const [law, judged, signer = workload(ON)] of without) {
  test(`a CA ${law} certifies no successor, which signs all the same`, async () => {
    const { cross, said } = await activated(signer, judged);
    assert.deepEqual([cross, said], [undefined, ['AuthorityNotCrossSigned']]);
  });
}

const cross = (await crossSign({ old, next, now: NOW })) ?? '';
const signing = affected(next, { 'cross.crt': cross });
const stepOf = (signer: ClusterSigner, of = signing): string | undefined => {
  const found = { kind: 'found', secret: of } as const;
  return planOf({
    signer: { ...after(planOf({ secret: found })), spec: signer.spec },
    secret: found,
  }).step?.kind;
};

test('the status names the certifying CA while the cross-certificate is delivered', () => {
  const toldBy = (signer: ClusterSigner): string | undefined => {
    const { status } = planOf({ signer, secret: { kind: 'found', secret: signing } });
    return status.authorities?.find(({ phase }) => phase === 'Active')?.crossSignedBy;
  };
  assert.equal(toldBy(workload(ON)), printOf(old));
  assert.equal(toldBy(workload()), undefined);
  assert.equal(toldBy(workload({ ...ON, [DISTRUSTED]: [printOf(old)] })), undefined);
});

test('a cross-certificate stays while the CA that made it is trusted', () => {
  assert.equal(stepOf(workload(ON)), undefined);
});

test('a cross-certificate is removed once its issuer is distrusted', () => {
  assert.equal(stepOf(workload({ ...ON, [DISTRUSTED]: [printOf(old)] })), 'withdraw');
  assert.equal(stepOf(workload({ [DISTRUSTED]: [printOf(old)] })), 'withdraw');
});

test('a cross-certificate for another CA is removed', () => {
  assert.equal(stepOf(workload(ON), affected(next, { 'cross.crt': 'nothing' })), 'withdraw');
});

test('a distrusted signing CA is replaced by one without a cross-certificate', () => {
  assert.equal(stepOf(workload({ ...ON, [DISTRUSTED]: [printOf(next)] })), 'make');
});
