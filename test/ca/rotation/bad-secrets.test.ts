// SPDX-License-Identifier: Apache-2.0
/**
 * A managed CA's Secret in every bad shape, put there by somebody while all components run: each
 * heals without a restart, by the components' own decisions and deeds, and no law of the bundle is
 * broken.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Secret } from '#api/object/object.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import type { AuthorityMaterial, CreateAuthority } from '#ca/custody/contract.ts';
import { findCondition } from '#api/request/conditions.ts';
import { materialOf } from '#requests/ca/usable-authority.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import { random } from '../../support/ca/issuing.ts';
import { noCertificateAuthority } from '../../support/ca/rotation/no-ca-certificate.ts';
import { openedBy, signLeaf } from './simulation/at-work.ts';
import { NOT_WAITING, HOUR, type Durations } from './simulation/scenario.ts';
import { START, Simulation } from './simulation/simulation.ts';

const DURATIONS: Durations = {
  duration: 720 * 3_600,
  maxDuration: 24 * 3_600,
  renewBefore: undefined,
};
const DAMAGED_AT = START + 2 * HOUR;
const SETTLED_AT = DAMAGED_AT + 2 * HOUR;
const DESIRED = { keyType: 'ECDSAP256', commonName: 'Example workload CA' } as const;

type Texts = Readonly<Record<string, string | undefined>>;

/** The Secret with these texts; undefined takes one away. */
function withTexts(secret: Secret, texts: Texts): Secret {
  const data: Record<string, string> = { ...secret.data };
  for (const [key, text] of Object.entries(texts)) {
    if (text === undefined) Reflect.deleteProperty(data, key);
    else data[key] = Buffer.from(text).toString('base64');
  }
  return { ...secret, data };
}

function withAnnotations(secret: Secret, more: Readonly<Record<string, string>>): Secret {
  const annotations = { ...secret.metadata.annotations, ...more };
  return { ...secret, metadata: { ...secret.metadata, annotations } };
}

const create: CreateAuthority = createManagedAuthorities(random);
const made: Record<string, AuthorityMaterial> = {};
before(async () => {
  const wanted = { ...DESIRED, durationSeconds: DURATIONS.duration, now: DAMAGED_AT };
  made['other'] = await create(wanted);
  made['ed25519'] = await create({ ...wanted, keyType: 'ED25519' });
  made['subject'] = await create({ ...wanted, commonName: 'Somebody' });
  made['expired'] = await create({ ...wanted, now: START - 1000 * HOUR });
  made['tomorrow'] = await create({ ...wanted, now: DAMAGED_AT + HOUR });
  made['no CA'] = { ...(await noCertificateAuthority(DAMAGED_AT)), anchors: undefined };
});

const holds = (name: string) => (secret: Secret) => {
  const { certificate, key, anchors } = made[name] ?? materialOf(secret);
  return withTexts(secret, { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': anchors });
};

const encrypted = (secret: Secret): Secret =>
  withTexts(secret, {
    'tls.key': readPrivateKey(materialOf(secret).key).export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'x',
    } as const) as string,
  });

type Damage = (secret: Secret) => Secret | undefined;

/** What is put there; and which CA signs two hours later. */
const rows: readonly [law: string, damage: Damage, signs: 'another' | 'the same' | 'theirs'][] = [
  ['it is missing', () => undefined, 'another'],
  ['it is empty', (secret) => ({ ...secret, data: {} }), 'another'],
  ['it has no data at all', ({ data: _, ...secret }) => secret, 'another'],
  ['the key is missing', (secret) => withTexts(secret, { 'tls.key': undefined }), 'another'],
  [
    'the certificate is missing',
    (secret) => withTexts(secret, { 'tls.crt': undefined }),
    'another',
  ],
  ['the certificate is no PEM', (secret) => withTexts(secret, { 'tls.crt': 'no PEM' }), 'another'],
  ['the key is no PEM', (secret) => withTexts(secret, { 'tls.key': 'no PEM' }), 'another'],
  [
    'data is no base64',
    (secret) => ({ ...secret, data: { 'tls.crt': '!', 'tls.key': '%' } }),
    'another',
  ],
  [
    'the certificate is cut off',
    (secret) => withTexts(secret, { 'tls.crt': materialOf(secret).certificate.slice(0, 200) }),
    'another',
  ],
  [
    'the key is another’s',
    (secret) => withTexts(secret, { 'tls.key': made['other']?.key }),
    'another',
  ],
  ['the key is encrypted', encrypted, 'another'],
  [
    'a cut-off block stands behind the certificate',
    (secret) =>
      withTexts(secret, { 'tls.crt': `${materialOf(secret).certificate}-----BEGIN CERT` }),
    'another',
  ],
  [
    'text stands behind the certificate, which readers skip',
    (secret) => withTexts(secret, { 'tls.crt': `${materialOf(secret).certificate}a text` }),
    'the same',
  ],
  [
    'there are two keys',
    (secret) => withTexts(secret, { 'tls.key': materialOf(secret).key.repeat(2) }),
    'another',
  ],
  ['its CA has expired', holds('expired'), 'another'],
  ['it holds no CA', holds('no CA'), 'another'],
  ['its CA has a key of another type', holds('ed25519'), 'another'],
  ['its CA has another subject', holds('subject'), 'another'],
  [
    'the duration of its annotation is not the wanted one',
    (secret) => withAnnotations(secret, { 'countersign.dev/duration': '1h' }),
    'another',
  ],
  ['ca.crt is no PEM', (secret) => withTexts(secret, { 'ca.crt': 'no PEM' }), 'another'],
  ['a CA of tomorrow, which becomes valid by itself', holds('tomorrow'), 'theirs'],
  ['somebody put a CA into it that is as it should be', holds('other'), 'theirs'],
  [
    'two certificates, of which the second is a root of nobody’s',
    (secret) =>
      withTexts(secret, {
        'tls.crt': materialOf(secret).certificate + (made['other']?.certificate ?? ''),
      }),
    'the same',
  ],
  [
    'ca.crt is missing: the CA is its own anchor',
    (secret) => withTexts(secret, { 'ca.crt': undefined }),
    'the same',
  ],
  [
    'next.* is broken',
    (secret) => withTexts(secret, { 'next.crt': 'no PEM', 'next.key': 'no PEM' }),
    'the same',
  ],
  [
    'its labels are gone',
    (secret) => ({ ...secret, metadata: { ...secret.metadata, labels: {} } }),
    'the same',
  ],
  ['its type is another', (secret) => ({ ...secret, type: 'Opaque' }), 'the same'],
];

const print = (secret: Secret | undefined, now: number): string => {
  assert.ok(secret !== undefined, 'there is a Secret');
  return openLocalAuthority(materialOf(secret), now).facts.fingerprint;
};

/** Runs from before the damage until it must have healed. */
async function after(damage: Damage): Promise<{ readonly sim: Simulation; readonly was: string }> {
  let was = '';
  const deed = (sim: Simulation): void => {
    const { secret } = sim.world.objects;
    was = print(secret, sim.world.now);
    sim.world.put('secret', secret && damage(secret));
    // What was taken away cannot be signed with: so long as a new anchor takes to spread.
    sim.excusedUntil = sim.world.now + 24 * HOUR;
  };
  const sim = new Simulation({
    seed: 1,
    durations: DURATIONS,
    weather: NOT_WAITING,
    propagationSeconds: 600,
    plans: [{ at: DAMAGED_AT, deed }],
  });
  await sim.run(SETTLED_AT);
  return { sim, was };
}

for (const [law, damage, signs] of rows) {
  test(`${law}: ${signs === 'theirs' ? 'it signs once published' : `${signs} CA signs`}`, async () => {
    const { sim, was } = await after(damage);
    const end = signs === 'theirs' ? SETTLED_AT + 2 * HOUR : SETTLED_AT;
    await sim.run(end);
    const now = print(sim.world.objects.secret, end);
    if (signs === 'the same') assert.equal(now, was);
    else assert.notEqual(now, was);
    const active = sim.world.objects.signer?.status?.authorities?.filter(
      ({ phase }) => phase === 'Active',
    );
    assert.deepEqual(
      active?.map(({ fingerprint }) => fingerprint),
      [now],
    );
    for (const { process } of sim.signers) {
      assert.equal(signLeaf(process, openedBy(process)).authority.facts.fingerprint, now);
    }
  });
}

const foreign: readonly [law: string, damage: Damage, reason: string][] = [
  [
    'made for another ClusterSigner',
    (secret) => withAnnotations(secret, { 'countersign.dev/cluster-signer-uid': 'another' }),
    'SecretNotOwned',
  ],
  [
    'made for another, and broken',
    (secret) =>
      withTexts(withAnnotations(secret, { 'countersign.dev/cluster-signer-uid': 'another' }), {
        'tls.key': 'no PEM',
      }),
    'SecretUnusable',
  ],
  [
    'that is broken and immutable',
    (secret) => ({ ...withTexts(secret, { 'tls.key': 'no PEM' }), immutable: true }),
    'SecretImmutable',
  ],
];

// A running authority makes a CA in place of a Secret that is deleted, before anybody recreates it.
test('the advice for an immutable Secret stops authority before the Secret is deleted', async () => {
  const { sim } = await after((secret) => ({
    ...withTexts(secret, { 'tls.key': 'no PEM' }),
    immutable: true,
  }));
  const degraded = findCondition(sim.world.objects.signer?.status?.conditions, 'Degraded');
  assert.match(
    degraded?.message ?? '',
    /Scale authority to 0 replicas, .* Recreate the Secret .* scale authority up again/,
  );
});

for (const [law, damage, reason] of foreign) {
  test(`a Secret ${law} is never written: ${reason}, until its owner repairs it`, async () => {
    let good: Secret | undefined;
    const { sim, was } = await after((secret) => {
      good = secret;
      return damage(secret);
    });
    const { secret, signer } = sim.world.objects;
    assert.ok(secret !== undefined && good !== undefined);
    const sent = damage(good);
    assert.deepEqual(
      [secret.data, secret.metadata.annotations],
      [sent?.data, sent?.metadata.annotations],
    );
    assert.equal(findCondition(signer?.status?.conditions, 'Degraded')?.reason, reason);
    sim.world.put('secret', good);
    await sim.run(SETTLED_AT + HOUR);
    assert.equal(print(sim.world.objects.secret, SETTLED_AT), was);
    const healed = findCondition(sim.world.objects.signer?.status?.conditions, 'Degraded');
    assert.equal(healed?.status, 'False');
  });
}
