// SPDX-License-Identifier: Apache-2.0
/**
 * Each behaviour of the source, KubeVirt's rotation of its certificates, under its own number and
 * by its sentence. docs/reference/requirements/rotation.md has the list, with what differs here on
 * purpose, and why.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Secret } from '#api/object/object.ts';
import { SignerError } from '#base/errors.ts';
import { leafCertificateOf } from '#ca/rotation/leaf-certificate.ts';
import { leafRenewal, type LeafCertificate } from '#ca/rotation/leaf-renewal.ts';
import type { RotationStep } from '#ca/rotation/next-step.ts';
import { desiredCaOf } from '#ca/rotation/desired-ca.ts';
import { CA, DESIRED as DESIRED_LEAF, caOf, texts } from '../../support/trust/own-tls-stage.ts';
import { NOW } from '../../support/ca/issuing.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { calm } from '../../support/ca/rotation/calm.ts';
import {
  BORN,
  DAY,
  HOUR,
  MINUTE,
  SECOND,
  DESIRED,
  YEAR,
  held,
  stepOf,
} from '../../support/ca/rotation/next-step.ts';
import { START } from './simulation/simulation.ts';

const deadline = BORN + YEAR - YEAR / 5;
const good = await texts();

function leafOf(more: Partial<LeafCertificate> = {}, by = CA): LeafCertificate {
  const { 'tls.crt': certificate, 'tls.key': key } = good;
  const found = leafCertificateOf({ certificate, key, duration: '168h' }, by.facts);
  assert.ok(!(found instanceof SignerError));
  return { ...found, ...more };
}

const reasonOf = (leaf: LeafCertificate | SignerError, now = NOW): string | undefined =>
  leafRenewal({ held: leaf, desired: DESIRED_LEAF, authorityNotAfter: CA.facts.notAfter, now }).due
    ?.reason;

const whyOf = (step: RotationStep | undefined): string | undefined =>
  step !== undefined && 'due' in step ? step.due?.reason : undefined;

/** The last fifth of a week's life. */
const renewalOf = ({ notAfter }: LeafCertificate): number => notAfter - (7 * DAY) / 5;

describe('1. renewBefore defaults to a fifth of the duration', () => {
  test('of a CA', () => {
    const { spec } = workload({
      'authority.managed.duration': '1000h',
      'authority.managed.renewBefore': undefined,
    });
    assert.equal(desiredCaOf(spec)?.renewBeforeSeconds, 200 * 3_600);
  });
  test('of a leaf', () => {
    const leaf = leafOf();
    const { lookAt } = leafRenewal({
      held: leaf,
      desired: DESIRED_LEAF,
      authorityNotAfter: Infinity,
      now: leaf.notBefore,
    });
    assert.equal(lookAt, renewalOf(leaf));
  });
});

describe('2. a missing Secret is generated and created, once', () => {
  test('even if its watch event is a minute late or the response is lost', async () => {
    for (const fate of ['well', 'lost after'] as const) {
      let lost = false;
      const { sim, calls } = await calm({
        until: START + HOUR,
        lag: MINUTE,
        fate: (_name, method) => {
          if (method !== 'POST' || lost) return 'well';
          lost = true;
          return fate;
        },
      });
      assert.equal(sim.writes.secret, 1);
      assert.equal(
        calls.filter((each) => each.startsWith('POST') && each.includes('/secrets')).length <= 2,
        true,
      );
    }
  });
});

describe('3. a Secret that cannot be loaded is rotated and reported, and nothing crashes', () => {
  test('of a CA; bad-secrets.test.ts has every shape', () => {
    const error = new SignerError({
      code: 'AUTHORITY_INVALID',
      disposition: 'authority',
      message: 'x',
    });
    const { step } = stepOf({ slots: { active: error, next: undefined, activatedAt: BORN } });
    assert.equal(whyOf(step), 'KeyUnusable');
  });
  test('of a leaf; decide-leaf.test.ts has every shape', () => {
    const found = leafCertificateOf({ certificate: 'x', key: 'y', duration: '168h' }, CA.facts);
    assert.equal(reasonOf(found), 'Unusable');
  });
});

describe('4. a duration other than the desired one causes a rotation', () => {
  test('of a CA', () => {
    const active = held({ durationSeconds: 3_600, notAfter: BORN + YEAR });
    const { due } = stepOf({ slots: { active, next: undefined, activatedAt: BORN } });
    assert.equal(due?.reason, 'DurationChanged');
  });
  test('of a leaf', () => {
    assert.equal(reasonOf(leafOf({ durationSeconds: 3_600 })), 'DurationChanged');
  });
  test('unless it is another spelling of the same duration', () => {
    const of = (duration: string): number | undefined =>
      desiredCaOf(workload({ 'authority.managed.duration': duration }).spec)?.durationSeconds;
    assert.equal(of('8760h'), of('8760h0m0s'));
  });
});

describe('5. rotation is due after the deadline and not before', () => {
  const rows = [
    [-1, false],
    // Otherwise than there: who is woken at the deadline does then what it was woken for.
    [0, true],
    [1, true],
  ] as const;
  for (const [ms, due] of rows) {
    test(`a CA ${ms} ms after its deadline`, () => {
      assert.equal(stepOf({ now: deadline + ms }).due !== undefined, due);
    });
    test(`a leaf ${ms} ms after its deadline`, () => {
      const leaf = leafOf();
      assert.equal(reasonOf(leaf, renewalOf(leaf) + ms) !== undefined, due);
    });
  }
});

test('6. without a due rotation nothing is written', async () => {
  const { sim } = await calm({ until: START + HOUR });
  const before = { ...sim.writes };
  await sim.run(START + 10 * DAY);
  assert.deepEqual(sim.writes, before);
});

test('7. a change is one JSON patch of the Secret, never a PUT', async () => {
  const { sim, calls } = await calm({ until: START + 60 * DAY });
  const secrets = calls.filter((each) => each.includes('/secrets'));
  assert.equal(secrets[0]?.split(' ')[0], 'POST');
  assert.ok(secrets.slice(1).every((each) => each.startsWith('PATCH')));
  assert.equal(sim.writes.secret, secrets.length);
});

test('8. labels have the version that wrote the Secret, its owner and its generation', async () => {
  const { sim } = await calm({ until: START + HOUR });
  const { secret, signer } = sim.world.objects;
  assert.deepEqual(secret?.metadata.labels, {
    'app.kubernetes.io/managed-by': 'countersign',
    'app.kubernetes.io/version': '1.2.3',
    'countersign.dev/owner': signer?.metadata.uid,
    'countersign.dev/generation': '1',
  });
});

describe('9. the next look is exactly at the deadline, even after a restart', () => {
  test('of a CA', () => {
    for (const now of [BORN + HOUR, BORN + 100 * DAY, deadline - 1]) {
      assert.equal(stepOf({ now }).lookAt, deadline);
    }
  });
  test('of a leaf', () => {
    const leaf = leafOf();
    for (const now of [NOW, NOW + DAY]) {
      const { lookAt } = leafRenewal({
        held: leaf,
        desired: DESIRED_LEAF,
        authorityNotAfter: Infinity,
        now,
      });
      assert.equal(lookAt, renewalOf(leaf));
    }
  });
});

describe('10. the deadline', () => {
  test('of a CA is renewBefore before its end', () => {
    assert.equal(stepOf().lookAt, BORN + YEAR - DESIRED.renewBeforeSeconds * SECOND);
  });
  test('of a leaf signed by an earlier CA is now', async () => {
    const other = await caOf('Countersign serving CA', NOW - DAY);
    assert.equal(reasonOf(leafOf({}, other)), 'AuthorityReplaced');
  });
  test('of a CA is early enough for its leaves, which never outlive it', () => {
    // A day of leaves leaves less than the renewBefore of ten minutes.
    const { lookAt } = stepOf({ desired: { ...DESIRED, renewBeforeSeconds: 600 } });
    assert.ok(lookAt !== undefined && lookAt < BORN + YEAR - DAY);
  });
  test('of a leaf is its own or that of its CA’s end, whichever is first', async () => {
    const short = await caOf('Short', NOW - 364 * DAY);
    const leaf = new X509Certificate((await texts({}, short))['tls.crt']);
    assert.equal(Date.parse(leaf.validTo), short.facts.notAfter);
  });
});

test('11. a rotated CA causes every leaf to be issued again', async () => {
  const next = await caOf('Countersign serving CA', NOW - HOUR);
  for (const dnsNames of [['a.svc'], ['b.svc'], ['c.svc']]) {
    const { 'tls.crt': certificate, 'tls.key': key } = await texts({ dnsNames });
    const leaf = leafCertificateOf({ certificate, key, duration: '168h' }, next.facts);
    const input = { held: leaf, desired: { ...DESIRED_LEAF, dnsNames }, now: NOW };
    const { due } = leafRenewal({ ...input, authorityNotAfter: next.facts.notAfter });
    assert.equal(due?.reason, 'AuthorityReplaced');
  }
});

test('12. a CA is self-signed, CA:TRUE, with creation time and a unique serial number', async () => {
  const [first, second] = [await caOf('Serving', NOW), await caOf('Serving', NOW + SECOND)];
  const [a, b] = [first, second].map(
    ({ facts }) => new X509Certificate(Buffer.from(facts.certificate.raw)),
  );
  assert.ok(a?.ca === true && a.verify(a.publicKey) && b !== undefined);
  assert.equal(a.subject, `CN=Serving ${NOW / SECOND}`);
  assert.notEqual(a.subject, b.subject);
  assert.notEqual(a.serialNumber, b.serialNumber);
  // Otherwise than there: it may sign certificates and CRLs, and nothing else.
  assert.deepEqual([...(first.facts.certificate.keyUsage ?? [])].sort(), [
    'cRLSign',
    'keyCertSign',
  ]);
  // Otherwise than there: valid since five minutes, for verifiers whose clocks are late.
  assert.equal(first.facts.notBefore, NOW - 5 * MINUTE);
  assert.equal(first.facts.notAfter, NOW + 365 * DAY);
});

test('13. a leaf is decoded into the values that rotation uses', () => {
  const leaf = leafOf();
  assert.deepEqual(
    [leaf.keyType, leaf.dnsNames, leaf.isOfPresent],
    ['ECDSAP256', DESIRED_LEAF.dnsNames, true],
  );
});

test('14. the bundle has old CAs until their leaves expire, newest first, once each', async () => {
  const { sim } = await calm({ until: START + 200 * DAY });
  const authorities = sim.world.objects.signer?.status?.authorities ?? [];
  const anchors = sim.world.objects.bundle?.spec.trustBundle.match(/BEGIN/g)?.length;
  assert.equal(anchors, authorities.length);
  assert.equal(new Set(authorities.map(({ fingerprint }) => fingerprint)).size, authorities.length);
  for (const { notAfter } of authorities) assert.ok(Date.parse(notAfter) > sim.world.now);
  const old = authorities.filter(({ phase }) => phase === 'Retiring').map((each) => each.notBefore);
  assert.deepEqual(old, [...old].sort().reverse());
});

test('15. over many cycles of a fast clock nothing expires before it is rotated', async () => {
  // The simulation's own laws: each leaf whole, and verified by all readers of the bundle.
  const { sim } = await calm({ until: START + 365 * DAY });
  const made = new Set(
    sim.changes.flatMap(({ kind, object }) =>
      kind === 'secret' ? ((object as Secret | undefined)?.data?.['tls.crt'] ?? []) : [],
    ),
  );
  assert.ok(made.size >= 14, `${made.size} CAs`);
  assert.ok(sim.laws.leaves > 365);
});
