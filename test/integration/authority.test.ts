// SPDX-License-Identifier: Apache-2.0
/**
 * ClusterSigners and their CAs: what is made, what is refused with which reason, and that it heals.
 */
import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Secret } from '#api/object/object.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { decodePem } from '#pki/der/pem.ts';
import { certificateAuthority } from '../support/ca/generated.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import {
  applySigner,
  example,
  getSigner,
  startFixture,
  waitForSignerCondition,
  waitForReady,
  type Fixture,
} from '../support/cluster/fixture.ts';
import { caSecretManifest } from '../support/ca/ca-secret.ts';

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
  await allowRequesters(fixture.cluster);
});
after(() => fixture.stop());

async function getSecret(name: string): Promise<Secret> {
  const { stdout } = await fixture.cluster.kubectl([
    'get',
    'secret',
    name,
    '-n',
    'countersign-keys',
    '-o',
    'json',
  ]);
  return JSON.parse(stdout) as Secret;
}

function textOf(secret: Secret, key: string): string {
  return Buffer.from(secret.data?.[key] ?? '', 'base64').toString();
}

/** Replaces the user's own CA; null removes a key or the consent. */
async function patchPeople(change: {
  readonly data?: Readonly<Record<string, string | null>>;
  readonly annotation?: string | null;
}): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(change.data ?? {}).map(([key, text]) => [
      key,
      text === null ? null : Buffer.from(text).toString('base64'),
    ]),
  );
  const annotations =
    change.annotation === undefined
      ? {}
      : { annotations: { 'countersign.dev/signer-name': change.annotation } };
  const patch = JSON.stringify({ metadata: annotations, data });
  await fixture.cluster.kubectl([
    'patch',
    'secret',
    'people-ca',
    '-n',
    'countersign-keys',
    '--type=merge',
    '-p',
    patch,
  ]);
}

test('a managed CA is self-signed, with pathlen 0, key IDs and a unique subject', async () => {
  const secret = await getSecret('workload-ca');
  assert.equal(secret.type, 'kubernetes.io/tls');
  const pem = textOf(secret, 'tls.crt');
  const ca = decodeCertificate(decodePem(pem, 'CERTIFICATE'));
  const oracle = new X509Certificate(pem);
  assert.ok(oracle.verify(oracle.publicKey) && oracle.ca);
  assert.ok(oracle.checkPrivateKey(createPrivateKey(textOf(secret, 'tls.key'))));
  assert.match(oracle.subject, /^CN=Example workload CA \d+$/);
  assert.equal(ca.isCa, true);
  assert.equal(ca.pathLen, 0);
  assert.deepEqual(ca.subjectKeyIdentifier, ca.authorityKeyIdentifier);
  const critical = ca.extensions.filter((each) => each.critical).map((each) => each.oid);
  assert.deepEqual(critical.sort(), ['2.5.29.15', '2.5.29.19']);
  assert.equal(textOf(secret, 'ca.crt'), pem);
});

test('the status of a ClusterSigner holds certificates and never a private key', async () => {
  const { status } = await getSigner(fixture.cluster, 'workload');
  const [active] = status?.authorities ?? [];
  assert.equal(active?.phase, 'Active');
  assert.equal(active.anchors, textOf(await getSecret('workload-ca'), 'ca.crt'));
  assert.ok(!JSON.stringify(status).includes('PRIVATE'));
});

const people = example('people');
const original = (file: 'certFile' | 'keyFile'): string =>
  readFileSync(fixture.cluster.clientCa[file], 'utf8');

async function fix(): Promise<void> {
  await patchPeople({
    annotation: 'example.com/people',
    data: { 'tls.crt': original('certFile'), 'tls.key': original('keyFile') },
  });
  await applySigner(fixture.cluster, people);
  await waitForReady(fixture.cluster, 'people', 'Checked');
}

interface Fault {
  readonly law: string;
  readonly says: RegExp;
  readonly breaks: () => Promise<void>;
}

const refusals: readonly (Fault & { readonly reason: string })[] = [
  {
    law: 'a Secret without consent',
    reason: 'SecretNotGranted',
    says: /countersign\.dev\/signer-name: example\.com\/people/,
    breaks: () => patchPeople({ annotation: null }),
  },
  {
    law: 'a Secret that consents to another signer',
    reason: 'SecretNotGranted',
    says: /does not grant/,
    breaks: () => patchPeople({ annotation: 'example.com/workload' }),
  },
  {
    law: 'a CEL expression that does not type-check',
    reason: 'InvalidSpec',
    says: /spec\.requests\.rules\[0\]\.when: line 2, column 7: .*nonsense/,
    breaks: async () => {
      const broken = structuredClone(people) as unknown as {
        spec: { requests: { rules: { when: string }[] } };
      };
      const [rule] = broken.spec.requests.rules;
      if (rule !== undefined) rule.when = "request.username == 'jane' &&\n  csr.nonsense == 1";
      await applySigner(fixture.cluster, broken);
    },
  },
];

for (const { law, reason, says, breaks } of refusals) {
  test(`${law}: Ready=False ${reason}, requests wait, and it recovers`, async () => {
    await breaks();
    const ready = await waitForReady(fixture.cluster, 'people', reason);
    assert.equal(ready.status, 'False');
    assert.match(ready.message ?? '', says);
    const name = await createCsr(fixture.cluster);
    await fixture.cluster.kubectl(['certificate', 'approve', name]);
    await fix();
    await waitForCertificate(fixture.cluster, name);
  });
}

const faults: readonly Fault[] = [
  {
    law: 'a Secret without a key',
    says: /tls\.key is empty/,
    breaks: () => patchPeople({ data: { 'tls.key': '' } }),
  },
  {
    law: 'a key that is not the certificate’s',
    says: /not the private key/,
    breaks: async () => patchPeople({ data: { 'tls.key': (await certificateAuthority()).key } }),
  },
  {
    law: 'an expired CA',
    says: /expired/,
    breaks: async () => {
      const { certificate, key } = await certificateAuthority({ durationSeconds: 60, age: 3600 });
      await patchPeople({ data: { 'tls.crt': certificate, 'tls.key': key } });
    },
  },
  {
    law: 'a CA that is no CA',
    says: /CA:TRUE/,
    breaks: async () => {
      const { certificate, key } = await certificateAuthority({ leaf: true });
      await patchPeople({ data: { 'tls.crt': certificate, 'tls.key': key } });
    },
  },
];

for (const { law, says, breaks } of faults) {
  test(`${law}: the previous CA keeps signing, the status says so, and it recovers`, async () => {
    const { cluster } = fixture;
    const approved = async (): Promise<string> => {
      const name = await createCsr(cluster);
      await cluster.kubectl(['certificate', 'approve', name]);
      return waitForCertificate(cluster, name);
    };
    await approved();
    await breaks();
    const degraded = await waitForSignerCondition(cluster, 'people', {
      type: 'Degraded',
      reason: 'SecretUnusable',
    });
    assert.match(degraded.message ?? '', says);
    await waitForReady(cluster, 'people', 'Checked');
    const leaf = new X509Certificate(await approved());
    assert.ok(leaf.verify(new X509Certificate(original('certFile')).publicKey));
    await fix();
    await waitForSignerCondition(cluster, 'people', { type: 'Degraded', reason: 'AsExpected' });
    await approved();
  });
}

test('a ClusterSigner without its Secret reports it and recovers once it is created', async () => {
  const secret = await getSecret('people-ca');
  await fixture.cluster.kubectl(['delete', 'secret', 'people-ca', '-n', 'countersign-keys']);
  const ready = await waitForReady(fixture.cluster, 'people', 'SecretNotFound');
  assert.match(ready.message ?? '', /countersign-keys\/people-ca does not exist/);
  const { resourceVersion: _version, uid: _uid, ...metadata } = secret.metadata;
  await fixture.cluster.kubectl(['create', '-f', '-'], {
    input: JSON.stringify({ ...secret, metadata }),
  });
  await waitForReady(fixture.cluster, 'people', 'Checked');
});

test('the older ClusterSigner of a signer name serves; the other is SignerNameTaken', async () => {
  const second = { ...example('people'), metadata: { name: 'people-2' } };
  await applySigner(fixture.cluster, second);
  const ready = await waitForReady(fixture.cluster, 'people-2', 'SignerNameTaken');
  assert.match(ready.message ?? '', /"people" is older/);
  await fixture.cluster.kubectl(['delete', 'clustersigner', 'people-2']);
});

test('a Secret that another client created in place of a managed CA is kept', async () => {
  const { certificate, key } = await certificateAuthority();
  const input = caSecretManifest('foreign-ca', { certificate, key });
  await fixture.cluster.kubectl(['create', '-f', '-'], { input });
  const before = await getSecret('workload-ca');
  await fixture.cluster.kubectl([
    'annotate',
    'secret',
    'workload-ca',
    '-n',
    'countersign-keys',
    'countersign.dev/signer-name-',
  ]);
  await waitForReady(fixture.cluster, 'workload', 'SecretNotGranted');
  assert.deepEqual((await getSecret('workload-ca')).data, before.data);
  await fixture.cluster.kubectl([
    'annotate',
    'secret',
    'workload-ca',
    '-n',
    'countersign-keys',
    'countersign.dev/signer-name=example.com/workload',
  ]);
  await waitForReady(fixture.cluster, 'workload', 'Checked');
});
