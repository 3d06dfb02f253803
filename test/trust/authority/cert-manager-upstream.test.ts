// SPDX-License-Identifier: Apache-2.0
/** A managed CA that an issuer of cert-manager signs, on an API in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition } from '#api/request/conditions.ts';
import {
  withApproval,
  withDenied,
  withFailed,
  withIssued,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { formatTime } from '#api/object/time.ts';
import type { Secret } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { createCaRequest, createManagedAuthorities } from '#ca/custody/managed.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { fingerprint, readCertificates } from '#pki/x509/certificate.ts';
import { applyStep } from '#trust/authority/apply/apply-step.ts';
import { returnedChain } from '#trust/authority/decide/upstream.ts';
import { inspectWith } from '#trust/authority/decide/inspect.ts';
import type { PatchOperation } from '#trust/authority/apply/secret-patch.ts';
import { createUpstreams } from '#trust/authority/upstream/index.ts';
import { createCompanyRoot } from '../../support/ca/company-root.ts';
import { random } from '../../support/ca/issuing.ts';
import { patched } from '../../support/kube/json-patch.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { NOW } from '../../support/pki/chain.ts';
import { planOf } from '../../support/trust/ca-secrets.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

const COMPANY = await createCompanyRoot();
const ROOT = COMPANY.certificate;

const UPSTREAM = {
  namespace: 'pki',
  issuerRef: { name: 'corporate', kind: 'ClusterIssuer', group: 'cert-manager.io' },
  rootFingerprint: fingerprint(ROOT.raw),
  anchor: 'Root',
  trustEverythingBelow: true,
};

/** One signer, its Secret and the CertificateRequests of the cluster. */
class Stage {
  readonly #client: RecordedClient = recordedClient();
  readonly requests = new Map<string, CertificateRequest>();
  readonly #upstreams;
  #secret: Secret | undefined;
  signer: ClusterSigner;
  now = NOW;
  /** The HTTP status of calls for CertificateRequests, while they fail. */
  failsWith: number | undefined;
  /** The next created request is stored, and its response is lost. */
  losesResponse = false;
  /** The next read finds nothing, as from a server that is behind. */
  readsStale = false;
  calls: string[] = [];

  constructor(more: object = {}) {
    this.signer = workload({
      'authority.managed.upstream': { certManager: { ...UPSTREAM, ...more } },
    });
    this.#client.answer(({ method, path, body }) =>
      path.includes('certificaterequests')
        ? this.#onRequests(method, path, body)
        : (this.#secret = this.#written(method, body)),
    );
    this.#upstreams = createUpstreams({ client: this.#client, clock: () => this.now, random });
  }

  #onRequests(method: string, path: string, body: unknown): CertificateRequest {
    this.calls.push(method);
    if (this.failsWith !== undefined) throw new KubeError({ status: this.failsWith, what: path });
    const name = path.split('/').at(-1) ?? '';
    if (method === 'GET') {
      const found = this.readsStale ? undefined : this.requests.get(name);
      this.readsStale = false;
      if (found === undefined) throw new KubeError({ status: 404, what: path });
      return found;
    }
    assert.equal(method, 'POST');
    const made = body as CertificateRequest;
    if (this.requests.has(made.metadata.name)) {
      const body = { reason: 'AlreadyExists' };
      throw new KubeError({ status: 409, what: path, body });
    }
    this.requests.set(made.metadata.name, made);
    if (this.losesResponse) {
      this.losesResponse = false;
      throw new KubeError({ status: 0, what: path });
    }
    return made;
  }

  #written(method: string, body: unknown): Secret {
    if (method === 'PATCH' && this.#secret !== undefined) {
      return patched(this.#secret, body as readonly PatchOperation[]);
    }
    const made = body as Secret;
    const metadata = { uid: 's-1', resourceVersion: '1', creationTimestamp: formatTime(NOW) };
    return { ...made, metadata: { ...made.metadata, ...metadata } };
  }

  /** Reconciles until nothing changes. Returns the kinds of the steps. */
  async settle(): Promise<readonly string[]> {
    const kinds: string[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const answer = await this.#upstreams.answerFor(this.signer, this.#secret);
      const { step, status } = planOf({
        signer: this.signer,
        secret:
          this.#secret === undefined
            ? { kind: 'missing' }
            : { kind: 'found', secret: this.#secret },
        inspect: inspectWith(openLocalAuthority, this.now, this.signer),
        upstreamAnswer: answer,
        now: this.now,
      });
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
      const secret = this.#secret;
      await applyStep(init, { signer, managed, secret, step, chain: returnedChain(answer), now });
      kinds.push(step.kind);
    }
    throw new Error(`does not settle: ${kinds.join(', ')}`);
  }

  newest(): CertificateRequest {
    const found = [...this.requests.values()].at(-1);
    assert.ok(found !== undefined, 'no request');
    return found;
  }

  put(request: CertificateRequest): void {
    this.requests.set(request.metadata.name, request);
  }

  /** The issuer signs the newest request, for so many days. */
  issue(days = 365, ca = COMPANY.material.certificate): void {
    const request = Buffer.from(this.newest().spec.request, 'base64').toString();
    const chain = COMPANY.sign(request, days, this.now);
    this.put(withIssued(this.newest(), { chain, anchors: ca }, this.now));
  }

  awaiting(): readonly [reason: string, message: string] {
    const found = findCondition(this.signer.status?.conditions, 'AwaitingCertificate');
    return [found?.reason ?? '', found?.message ?? ''];
  }
}

const approve = (request: CertificateRequest): CertificateRequest =>
  withApproval(request, { type: 'Approved', reason: 'Policy', message: 'yes' }, NOW);

test('requests a CA of the issuer once, however often the signer is reconciled', async () => {
  const stage = new Stage();
  assert.deepEqual(await stage.settle(), ['request']);
  for (let turn = 0; turn < 20; turn += 1) await stage.settle();
  assert.equal(stage.requests.size, 1);
  assert.deepEqual(stage.calls, ['GET', 'POST']);
  const { metadata, spec } = stage.newest();
  assert.equal(metadata.namespace, 'pki');
  assert.match(metadata.name, /^countersign-workload-[0-9a-f]{16}$/);
  assert.deepEqual(spec.issuerRef, UPSTREAM.issuerRef);
  assert.deepEqual([spec.isCA, spec.usages], [true, ['cert sign', 'crl sign']]);
  assert.match(spec.duration ?? '', /^\d+s$/);
  const { upstream } = stage.signer.status ?? {};
  assert.equal(upstream?.certificateRequest, `pki/${metadata.name}`);
  assert.equal(Buffer.from(spec.request, 'base64').toString(), upstream.request);
});

test('reports whether the approver or the issuer is awaited', async () => {
  const stage = new Stage();
  await stage.settle();
  assert.equal(stage.awaiting()[0], 'CertificateRequested');
  assert.match(stage.awaiting()[1], /CertificateRequest pki\/\S+ is not approved/);
  stage.put(approve(stage.newest()));
  stage.now += MINUTE;
  await stage.settle();
  assert.match(stage.awaiting()[1], /is approved and waits for ClusterIssuer corporate/);
});

test('installs the chain that the issuer returns, with its root as the anchor', async () => {
  const stage = new Stage();
  await stage.settle();
  stage.issue();
  stage.now += MINUTE;
  assert.deepEqual(await stage.settle(), ['install']);
  const [active] = stage.signer.status?.authorities ?? [];
  assert.deepEqual(readCertificates(active?.anchors ?? '')[0]?.raw, ROOT.raw);
  assert.equal(stage.awaiting()[0], 'NotAwaited');
  const calls = stage.calls.length;
  stage.now += DAY;
  await stage.settle();
  assert.equal(stage.calls.length, calls, 'asks although nothing is awaited');
});

test('finds the request of a lost response again', async () => {
  const stage = new Stage();
  stage.losesResponse = true;
  await stage.settle();
  assert.equal(stage.awaiting()[0], 'UpstreamUnavailable');
  stage.now += MINUTE;
  await stage.settle();
  assert.equal(stage.requests.size, 1);
  assert.equal(stage.awaiting()[0], 'CertificateRequested');
});

test('reads the request that exists although a read did not find it', async () => {
  const stage = new Stage();
  await stage.settle();
  stage.now += MINUTE;
  stage.readsStale = true;
  await stage.settle();
  assert.equal(stage.requests.size, 1);
  assert.equal(stage.awaiting()[0], 'CertificateRequested');
});

test('refuses a chain below another root, and installs nothing', async () => {
  const stage = new Stage({ rootFingerprint: fingerprint(Uint8Array.of(1)) });
  await stage.settle();
  stage.issue();
  stage.now += MINUTE;
  assert.deepEqual(await stage.settle(), []);
  assert.equal(stage.awaiting()[0], 'RootMismatch');
  assert.match(stage.awaiting()[1], /^the upstream CA gave no usable certificate: /);
});

test('refuses a request of another client under the same name', async () => {
  const stage = new Stage();
  await stage.settle();
  const { spec } = stage.newest();
  stage.put({ ...stage.newest(), spec: { ...spec, isCA: false } });
  stage.now += MINUTE;
  await stage.settle();
  assert.equal(stage.awaiting()[0], 'RequestForeign');
});

test('refuses a chain that is too long before it is read', async () => {
  const stage = new Stage();
  await stage.settle();
  stage.issue(365, COMPANY.material.certificate.repeat(200));
  stage.now += MINUTE;
  await stage.settle();
  assert.equal(stage.awaiting()[0], 'ChainMalformed');
});

for (const [how, refuse, reason] of [
  ['denied', withDenied, 'RequestDenied'],
  ['failed', (of, now) => withFailed(of, { reason: 'Bad', message: 'no' }, now), 'RequestFailed'],
] as readonly [string, (of: CertificateRequest, now: number) => CertificateRequest, string][]) {
  test(`replaces a ${how} request by a new key, each time later`, async () => {
    const stage = new Stage();
    await stage.settle();
    let wait = 10 * MINUTE;
    for (const attempt of [1, 2, 3]) {
      const { name } = stage.newest().metadata;
      stage.now += MINUTE;
      stage.put(refuse(stage.newest(), stage.now));
      const refusedAt = stage.now;
      stage.now += 5 * MINUTE;
      await stage.settle();
      assert.equal(stage.awaiting()[0], reason);
      const retryAt = Date.parse(stage.signer.status?.upstream?.retryAt ?? '');
      assert.equal(retryAt, refusedAt + wait, `attempt ${attempt}`);
      stage.now = retryAt - 1_000;
      assert.deepEqual(await stage.settle(), []);
      stage.now = retryAt;
      assert.deepEqual(await stage.settle(), ['request']);
      assert.notEqual(stage.newest().metadata.name, name);
      wait *= 2;
    }
    assert.equal(stage.requests.size, 4);
  });
}

test('replaces a request that failed in the far future, by its issuer, all the same', async () => {
  const stage = new Stage();
  await stage.settle();
  const { name } = stage.newest().metadata;
  const failed = withFailed(stage.newest(), { reason: 'Bad', message: 'no' }, NOW);
  const failureTime = '9999-12-31T23:59:59Z';
  stage.put({ ...failed, status: { ...failed.status, failureTime } });
  stage.now += 11 * MINUTE;
  assert.deepEqual(await stage.settle(), ['request']);
  assert.notEqual(stage.newest().metadata.name, name);
});

test('a request that was read by a clock ahead is read again by the right one', async () => {
  const stage = new Stage();
  await stage.settle();
  stage.now += DAY;
  await stage.settle();
  const calls = stage.calls.length;
  // The estimate of the API server's time falls back by less than a second.
  stage.now -= 900;
  await stage.settle();
  assert.equal(stage.calls.length, calls);
  stage.now = NOW + MINUTE;
  stage.issue();
  assert.deepEqual(await stage.settle(), ['install']);
});

test('creates a request again that a user deleted', async () => {
  const stage = new Stage();
  await stage.settle();
  const { name } = stage.newest().metadata;
  stage.put(withDenied(stage.newest(), stage.now));
  stage.now += MINUTE;
  await stage.settle();
  assert.equal(stage.awaiting()[0], 'RequestDenied');
  stage.requests.clear();
  stage.now += 2 * MINUTE;
  await stage.settle();
  assert.equal(stage.newest().metadata.name, name);
  assert.equal(stage.awaiting()[0], 'CertificateRequested');
});

test('an API server that fails is asked ever more rarely, with the same key', async () => {
  const stage = new Stage();
  stage.failsWith = 503;
  await stage.settle();
  const { request } = stage.signer.status?.upstream ?? {};
  for (const end = stage.now + 60 * MINUTE; stage.now < end; stage.now += 1_000) {
    await stage.settle();
  }
  assert.ok(stage.calls.length < 20, `${stage.calls.length} calls in an hour`);
  assert.equal(stage.signer.status?.upstream?.request, request);
  assert.equal(stage.awaiting()[0], 'UpstreamUnavailable');
});

test('a missing permission names the flag of the installation', async () => {
  const stage = new Stage();
  stage.failsWith = 403;
  await stage.settle();
  assert.match(stage.awaiting()[1], /upstreamIssuers in the values .*--upstream-issuer/);
});

test('another issuer gets a request of its own for the same key', async () => {
  const stage = new Stage();
  await stage.settle();
  const first = stage.newest();
  const { managed } = stage.signer.spec.authority;
  const certManager = managed?.upstream?.certManager;
  assert.ok(managed !== undefined && certManager !== undefined);
  const issuerRef = { ...certManager.issuerRef, name: 'other' };
  const upstream = { certManager: { ...certManager, issuerRef } };
  stage.signer = {
    ...stage.signer,
    spec: { ...stage.signer.spec, authority: { managed: { ...managed, upstream } } },
  };
  await stage.settle();
  assert.equal(stage.newest().spec.issuerRef.name, 'other');
  assert.equal(stage.newest().spec.request, first.spec.request);
});
