// SPDX-License-Identifier: Apache-2.0
/** A managed CA whose certificate another CA signs, from its request to its successor. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition } from '#api/request/conditions.ts';
import { formatTime } from '#api/object/time.ts';
import type { Secret } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { createCaRequest, createManagedAuthorities } from '#ca/custody/managed.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import {
  basicConstraints,
  keyUsage,
  subjectKeyIdentifier,
  authorityKeyIdentifier,
} from '#pki/extensions/encode-extensions.ts';
import { keyIdentifier } from '#pki/keys/public-key.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { encodeCertificate, encodeTbs } from '#pki/x509/encode-certificate.ts';
import { fingerprint, readCertificates } from '#pki/x509/certificate.ts';
import { decodeRequest, verifyRequest } from '#pki/x509/pkcs10.ts';
import { applyStep } from '#trust/authority/apply/apply-step.ts';
import { inspectWith } from '#trust/authority/decide/inspect.ts';
import type { PatchOperation } from '#trust/authority/apply/secret-patch.ts';
import type { SignerPlan } from '#trust/authority/decide/decide.ts';
import type { SignerSnapshot } from '#trust/authority/decide/snapshot.ts';
import { SERVED_SINCE } from '#api/object/cluster-trust-bundle.ts';
import { random } from '../../support/ca/issuing.ts';
import { patched } from '../../support/kube/json-patch.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { NOW } from '../../support/pki/chain.ts';
import { bundleWith, planOf } from '../../support/trust/ca-secrets.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const DAY = 86_400_000;

/** The root of a company: self-signed, path length unlimited, ten years. */
const COMPANY = await createManagedAuthorities(random)({
  keyType: 'ECDSAP256',
  commonName: 'Company root',
  durationSeconds: 3650 * 86_400,
  crossSigned: true,
  now: NOW - 30 * DAY,
});
const [ROOT] = readCertificates(COMPANY.certificate);
assert.ok(ROOT !== undefined);
const root = ROOT;

/** What the offline root makes of a request. */
function signed(request: string, days: number, now = NOW): string {
  const { publicKey, subject } = decodeRequest(decodePem(request, 'CERTIFICATE REQUEST'));
  const algorithm = signatureAlgorithm(readPrivateKey(COMPANY.key));
  const { spki } = publicKey;
  const tbs = encodeTbs({
    serial: Uint8Array.of(0x40, ...random(15)),
    signatureAlgorithm: algorithm.der,
    issuer: root.subject.raw,
    notBefore: now - DAY,
    notAfter: now + days * DAY,
    subject: subject.raw,
    spki,
    extensions: [
      keyUsage(['keyCertSign', 'cRLSign']),
      basicConstraints({ ca: true, pathLen: 0 }),
      subjectKeyIdentifier(spki),
      authorityKeyIdentifier(keyIdentifier(root.publicKey.spki)),
    ],
  });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return encodePem('CERTIFICATE', der) + COMPANY.certificate;
}

/** One signer on an API in memory, with the decisions and the writes of `authority`. */
class Stage {
  readonly #client: RecordedClient = recordedClient();
  #secret: Secret | undefined;
  signer: ClusterSigner;
  now = NOW;

  constructor(manual: object | undefined) {
    this.signer = workload(
      manual === undefined ? {} : { 'authority.managed.upstream': { manual } },
    );
    this.#client.answer(({ method, body }) => (this.#secret = this.#written(method, body)));
  }

  /** The Secret after a write, as the API server has it. */
  #written(method: string, body: unknown): Secret {
    if (method === 'PATCH' && this.#secret !== undefined) {
      return patched(this.#secret, body as readonly PatchOperation[]);
    }
    const made = body as Secret;
    const metadata = { uid: 's-1', resourceVersion: '1', creationTimestamp: formatTime(NOW) };
    return { ...made, metadata: { ...made.metadata, ...metadata } };
  }

  set(manual: object | undefined): void {
    const { status } = this.signer;
    const read = workload(manual === undefined ? {} : { 'authority.managed.upstream': { manual } });
    this.signer = status === undefined ? read : { ...read, status };
  }

  distrust(print: string): void {
    const { managed } = this.signer.spec.authority;
    assert.ok(managed !== undefined);
    const spec = {
      ...this.signer.spec,
      authority: { managed: { ...managed, distrusted: [print] } },
    };
    this.signer = { ...this.signer, spec };
  }

  secret(): Secret | undefined {
    return this.#secret;
  }

  plan(more: Partial<SignerSnapshot> = {}): SignerPlan {
    const secret = this.secret();
    const { status } = this.signer;
    const anchors = (status?.authorities ?? []).map((each) => each.anchors ?? '').join('');
    const prints = readCertificates(anchors).map(({ raw }) => fingerprint(raw));
    const since = formatTime(this.now - 3_600_000);
    const bundle = bundleWith();
    return planOf({
      signer: this.signer,
      secret: secret === undefined ? { kind: 'missing' } : { kind: 'found', secret },
      inspect: inspectWith(openLocalAuthority, this.now, this.signer),
      bundle: {
        ...bundle,
        metadata: {
          ...bundle.metadata,
          annotations: {
            [SERVED_SINCE]: JSON.stringify(Object.fromEntries(prints.map((each) => [each, since]))),
          },
        },
        spec: { ...bundle.spec, trustBundle: anchors },
      },
      now: this.now,
      ...more,
    });
  }

  /** Carries out plans until none has a step. Returns the kinds of their steps. */
  async settle(): Promise<readonly string[]> {
    const kinds: string[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const { step, status } = this.plan();
      this.signer = { ...this.signer, status };
      const { managed } = this.signer.spec.authority;
      if (step === undefined || managed === undefined) return kinds;
      const init = {
        client: this.#client,
        create: createManagedAuthorities(random),
        createRequest: createCaRequest,
        version: '1.2.3',
      };
      const { signer, now } = this;
      await applyStep(init, { signer, managed, secret: this.secret(), step, now });
      kinds.push('slot' in step ? `${step.kind} ${step.slot}` : step.kind);
    }
    throw new Error(`does not settle: ${kinds.join(', ')}`);
  }

  awaiting(): readonly [status: string | undefined, reason: string | undefined] {
    const found = findCondition(this.signer.status?.conditions, 'AwaitingCertificate');
    return [found?.status, found?.reason];
  }

  request(): string {
    const request = this.signer.status?.upstream?.request;
    assert.ok(request !== undefined, 'no request');
    return request;
  }

  phases(): readonly string[] {
    return (this.signer.status?.authorities ?? []).map(({ phase }) => phase);
  }
}

const installed = (chain: string): object => ({
  chain,
  rootFingerprint: fingerprint(root.raw),
  trustEverythingBelow: true,
});

/** A signer whose first CA is below the company's root, for so many days. */
async function running(days = 365, more: object = {}): Promise<Stage> {
  const stage = new Stage({});
  await stage.settle();
  stage.set({ ...installed(signed(stage.request(), days)), ...more });
  await stage.settle();
  return stage;
}

test('a request for the first CA is in the status, and its key in the Secret alone', async () => {
  const stage = new Stage({});
  assert.deepEqual(await stage.settle(), ['request']);
  const request = decodeRequest(decodePem(stage.request(), 'CERTIFICATE REQUEST'));
  verifyRequest(request);
  assert.deepEqual([request.isCa, request.pathLen], [true, 0]);
  const ready = findCondition(stage.signer.status?.conditions, 'Ready');
  assert.deepEqual([ready?.status, ready?.reason], ['False', 'AwaitingCertificate']);
  assert.match(ready?.message ?? '', /countersign authority csr workload/);
  assert.deepEqual(stage.awaiting(), ['True', 'CertificateRequested']);
  assert.ok(!JSON.stringify(stage.signer).includes('PRIVATE KEY'));
  assert.equal(stage.secret()?.data?.['tls.crt'], '');
  assert.equal(stage.signer.status?.upstream?.installBy, undefined);
});

test('an installed chain becomes the first CA, with the root as its anchor', async () => {
  const stage = await running();
  assert.deepEqual(stage.phases(), ['Active']);
  const [active] = stage.signer.status?.authorities ?? [];
  const [anchor] = readCertificates(active?.anchors ?? '');
  assert.deepEqual(anchor?.raw, root.raw);
  assert.deepEqual(stage.awaiting(), ['False', 'NotAwaited']);
  assert.equal(stage.secret()?.data?.['pending.key'], undefined);
  assert.equal(stage.signer.status?.upstream, undefined);
});

test('a refused chain is a condition with its reason, and changes nothing', async () => {
  const stage = new Stage({});
  await stage.settle();
  const chain = signed(stage.request(), 365);
  const other = fingerprint(Uint8Array.of(1));
  stage.set({ ...installed(chain), rootFingerprint: other });
  assert.deepEqual(await stage.settle(), []);
  assert.deepEqual(stage.awaiting(), ['True', 'RootMismatch']);
  stage.set({ ...installed(chain), trustEverythingBelow: false });
  await stage.settle();
  assert.deepEqual(stage.awaiting(), ['True', 'ConsentMissing']);
});

test('a second chain for the key of the signing CA does not replace a new request', async () => {
  const stage = await running(365);
  stage.now = NOW + 320 * DAY;
  assert.deepEqual(await stage.settle(), ['request']);
  assert.deepEqual(stage.awaiting(), ['True', 'CertificateRequested']);
});

test('the active CA signs on until its successor is installed and served', async () => {
  const stage = await running(365);
  const [first] = stage.signer.status?.authorities ?? [];
  stage.now = NOW + 320 * DAY;
  assert.deepEqual(await stage.settle(), ['request']);
  assert.deepEqual(stage.phases(), ['Active']);
  assert.equal(findCondition(stage.signer.status?.conditions, 'Ready')?.status, 'True');
  assert.match(stage.signer.status?.upstream?.installBy ?? '', /^2027-05-/);
  stage.set(installed(signed(stage.request(), 365, stage.now)));
  assert.deepEqual(await stage.settle(), ['install next']);
  assert.deepEqual(stage.phases(), ['Active', 'Prepared']);
  stage.now += 15 * 60_000;
  assert.deepEqual(await stage.settle(), ['activate']);
  const all = stage.signer.status?.authorities ?? [];
  assert.deepEqual(
    all.map(({ phase }) => phase),
    ['Active', 'Retiring'],
  );
  assert.equal(all[1]?.fingerprint, first?.fingerprint);
  assert.deepEqual(stage.awaiting(), ['False', 'NotAwaited']);
});

test('rotation plans by the granted life, not by the requested one', async () => {
  const stage = await running(30);
  const due = Date.parse(stage.signer.status?.nextRotation ?? '');
  // The last fifth of 30 days, not 73 days before the end.
  assert.equal((due - NOW) / DAY, 24);
});

test('a late certificate is reported with the end of the time that is left', async () => {
  const stage = await running(30);
  stage.now = NOW + 25 * DAY;
  await stage.settle();
  assert.deepEqual(stage.awaiting(), ['True', 'CertificateRequested']);
  stage.now = NOW + 28 * DAY;
  await stage.settle();
  assert.deepEqual(stage.awaiting(), ['True', 'CertificateLate']);
  const found = findCondition(stage.signer.status?.conditions, 'AwaitingCertificate');
  assert.match(found?.message ?? '', /leaves get shorter if it is not installed by 2026-06-29T/);
});

test('an upstream is added to a CA that signs by a rotation', async () => {
  const stage = new Stage(undefined);
  await stage.settle();
  stage.now += 15 * 60_000;
  stage.set({});
  assert.deepEqual(await stage.settle(), ['request']);
  assert.deepEqual(stage.phases(), ['Active']);
  stage.set(installed(signed(stage.request(), 365, stage.now)));
  assert.deepEqual(await stage.settle(), ['install next']);
  stage.now += 15 * 60_000;
  assert.deepEqual(await stage.settle(), ['activate']);
  assert.deepEqual(stage.phases(), ['Active', 'Retiring']);
});

test('an upstream is removed from a CA that signs by a rotation', async () => {
  const stage = await running();
  stage.now += 15 * 60_000;
  stage.set(undefined);
  assert.deepEqual(await stage.settle(), ['make next']);
  stage.now += 15 * 60_000;
  assert.deepEqual(await stage.settle(), ['activate']);
  assert.deepEqual(stage.awaiting(), [undefined, undefined]);
});

test('a key that waits is dropped when the upstream is removed', async () => {
  const stage = new Stage(undefined);
  await stage.settle();
  stage.now += 15 * 60_000;
  stage.set({});
  await stage.settle();
  stage.set(undefined);
  assert.deepEqual(await stage.settle(), ['forget']);
  assert.equal(stage.secret()?.data?.['pending.key'], undefined);
});

test('another key type makes another request', async () => {
  const stage = new Stage({});
  await stage.settle();
  const before = stage.request();
  const { managed } = stage.signer.spec.authority;
  assert.ok(managed !== undefined);
  const spec = {
    ...stage.signer.spec,
    authority: { managed: { ...managed, keyType: 'ECDSAP384' as const } },
  };
  stage.signer = { ...stage.signer, spec };
  assert.deepEqual(await stage.settle(), ['request']);
  assert.notEqual(stage.request(), before);
});

test('distrust removes the stolen keys, the waiting one too, and the root above them', async () => {
  const stage = await running();
  stage.now = NOW + 320 * DAY;
  await stage.settle();
  const [stolen, waiting] = [stage.signer.status?.authorities?.[0], stage.request()];
  assert.ok(stolen !== undefined);
  stage.distrust(stolen.fingerprint);
  assert.deepEqual(await stage.settle(), ['request']);
  assert.notEqual(stage.request(), waiting);
  assert.equal(stage.secret()?.data?.['tls.key'], '');
  const records = stage.signer.status?.distrusted ?? [];
  assert.deepEqual(
    records.map(({ fingerprint: each, reason }) => [each, reason]).sort(),
    [
      [stolen.fingerprint, 'Named'],
      [fingerprint(root.raw), 'Certifier'],
    ].sort(),
  );
});

test('after distrust the same root is refused as anchor, and the CA itself accepted', async () => {
  const stage = await running();
  const print = stage.signer.status?.authorities?.[0]?.fingerprint ?? '';
  stage.distrust(print);
  await stage.settle();
  const spend = (manual: object): void => {
    stage.set(manual);
    stage.distrust(print);
  };
  const chain = signed(stage.request(), 365);
  spend(installed(chain));
  await stage.settle();
  assert.deepEqual(stage.awaiting(), ['True', 'AnchorDistrusted']);
  spend({ ...installed(chain), anchor: 'Authority' });
  assert.deepEqual(await stage.settle(), ['install tls']);
  const active = stage.signer.status?.authorities?.find(({ phase }) => phase === 'Active');
  const [anchor] = readCertificates(active?.anchors ?? '');
  assert.equal(anchor && fingerprint(anchor.raw), active?.fingerprint);
});
