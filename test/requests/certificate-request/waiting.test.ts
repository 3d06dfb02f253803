// SPDX-License-Identifier: Apache-2.0
/**
 * A CertificateRequest that waits says why in Ready, as those of cert-manager's own issuers do
 * (pkg/controller/certificaterequests/util/reporter.go), with one write for each cause.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { CERTIFICATE_REQUEST_RESOURCE } from '#api/request/certificate-request.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SignerError, type Disposition, type ErrorCode } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { resource } from '#kube/resource/resource.ts';
import { createIssuerSigning, issuerSelection } from '#requests/certificate-request/index.ts';
import { pendingStatus } from '#requests/certificate-request/pending-status.ts';
import type { IssuingCa } from '#requests/issuing/issuing-ca.ts';
import { RIGHT_MISSING } from '#component/rbac/rights-faults.ts';
import type { RequestOutcome } from '#requests/loop/outcome.ts';
import { until } from '../../cluster/until.ts';
import { installCertManager } from '../../library/cert-manager-world.ts';
import { openIntermediate } from '../../support/ca/intermediate.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { memoryApi, type MemoryApi } from '../../support/kube/memory-api.ts';
import { PATIENCE_MS } from '../../support/kube/reflector-fixture.ts';
import { NOW } from '../../support/pki/chain.ts';
import {
  APPROVED,
  DENIED,
  certificateRequest,
  servicesOfTeams,
  type CertificateRequestWanted,
} from '../../support/requests/certificate-request.ts';
import { localCaOf } from '../../support/requests/local-ca.ts';

const PATH = resource(CERTIFICATE_REQUEST_RESOURCE).object({ namespace: 'team-a', name: 'web-1' });
const NO_RULE = { dnsNames: ['example.com'] };

let api: MemoryApi;
let time: FakeTime;
let component: RecordedComponent;
let signer: ClusterSigner;
/** How the CA answers. */
let issue: () => IssuingCa<object>;
let wakeSigner: () => void;
let stop: () => Promise<void>;

beforeEach(async () => {
  api = memoryApi();
  time = fakeTime(NOW);
  signer = servicesOfTeams();
  const zeros = (size: number): Uint8Array => new Uint8Array(size);
  const counts = { added: () => undefined, depth: () => undefined, waited: () => undefined };
  component = recordedComponent({
    name: 'certificate-request',
    client: api.client,
    clock: time.clock,
    delay: time.delay,
    queue: createDelayingQueue(createQueue(time.clock, counts, zeros), time.clock, time.startTimer),
    limiter: createRateLimiter({ firstMs: 1_000, maxMs: 30_000, random: zeros }),
    concurrency: createConcurrencyLimiter({ ...time, random: zeros }),
  });
  issue = () => localCaOf(component, openIntermediate());
  installCertManager(api);
  const woken: ((signerNames: readonly string[]) => void)[] = [];
  wakeSigner = () => {
    for (const each of woken) each([signer.spec.signerName]);
  };
  const controller = createIssuerSigning<ClusterSigner>({
    component,
    signers: {
      settled: true,
      failure: undefined,
      serving: () => signer,
      all: () => [signer],
      onChange: (listener) => void woken.push(listener),
      run: () => Promise.resolve(),
    },
    sources: {
      serve: () => undefined,
      listed: () => true,
      issuing: () => issue(),
      onChange: () => undefined,
      notReady: () => [],
      stop: () => Promise.resolve(),
    },
    selectionOf: () =>
      issuerSelection({ group: 'countersign.dev', kind: 'ClusterSigner', name: 'workload' }),
    permissions: () => [],
  });
  const abort = new AbortController();
  const running = controller.run(abort.signal);
  await until('it watches requests', PATIENCE_MS, async () => {
    await time.advance(5_000);
    wakeSigner();
    return controller.notReady().length === 0;
  });
  stop = async () => {
    abort.abort(new Error('stopped'));
    await time.advance(0);
    await running;
  };
});
afterEach(() => stop());

async function settle(): Promise<void> {
  for (let turns = 0; turns < 4; turns += 1) await time.advance(0);
}

async function create(wanted: CertificateRequestWanted = {}): Promise<void> {
  const creationTimestamp = new Date(time.clock()).toISOString().replace('.000Z', 'Z');
  const request = certificateRequest(wanted);
  api.put(PATH, { ...request, metadata: { ...request.metadata, uid: 'web-1', creationTimestamp } });
  await settle();
}

async function signerChanges(next: ClusterSigner): Promise<void> {
  signer = next;
  wakeSigner();
  await settle();
}

function ready(): Condition | undefined {
  const { conditions = [] } = (api.get(PATH)?.status ?? {}) as {
    readonly conditions?: readonly Condition[];
  };
  return conditions.find(({ type }) => type === 'Ready');
}

/** Waits until Ready has this reason and message. */
function says(reason: string, message: RegExp): Promise<unknown> {
  return until(`Ready is ${reason}`, PATIENCE_MS, async () => {
    await settle();
    return ready()?.reason === reason && message.test(ready()?.message ?? '');
  });
}

function away(code: ErrorCode, disposition: Disposition, message: () => string): () => never {
  return () => {
    throw new SignerError({ code, disposition, message: message() });
  };
}

/** The signer with another validity or rule, as a new generation. */
function changed(spec: object, generation: number): ClusterSigner {
  const next = servicesOfTeams(spec as Readonly<Record<string, unknown>>);
  return { ...next, metadata: { ...next.metadata, generation } };
}

test('a request that no rule allows has Ready False, Pending, with what is not allowed', async () => {
  await create(NO_RULE);
  await says('Pending', /^NoRuleMatched: approved, but no rule .*services-of-a-team.*example\.com/);
  assert.equal(ready()?.status, 'False');
  assert.equal(api.writes.length, 1);
});

test('a reconcile with the same cause writes nothing', async () => {
  await create(NO_RULE);
  await says('Pending', /example/);
  for (let turn = 0; turn < 3; turn += 1) await signerChanges(signer);
  assert.equal(api.writes.length, 1);
});

test('once rules say something else of a request, Ready does', async () => {
  await create(NO_RULE);
  await says('Pending', /services-of-a-team/);
  const rule = { name: 'other', when: 'true', allow: { dnsNames: "self == 'b.example.com'" } };
  await signerChanges(changed({ certificateRequests: { rules: [rule] } }, 2));
  await says('Pending', /^NoRuleMatched: .*other/);
  assert.equal(api.writes.length, 2);
});

test('a waiting request is answered in one more write once its CA signs', async () => {
  const signs = issue;
  issue = away('AUTHORITY_MISSING', 'authority', () => 'Secret workload-ca is missing');
  await create();
  await says('Pending', /^AuthorityMissing: Secret workload-ca is missing$/);
  issue = signs;
  wakeSigner();
  await says('Issued', /./);
  assert.equal(ready()?.status, 'True');
  assert.equal(api.writes.length, 2);
});

test('a cause whose text counts its attempts is written once', async () => {
  let attempt = 0;
  const counted = (): string => `attempt ${(attempt += 1)}, at ${time.clock()}`;
  issue = away('KEY_HOLDER_UNAVAILABLE', 'authority', counted);
  await create();
  await until('it is tried again', PATIENCE_MS, async () => {
    await time.advance(60_000);
    return attempt > 3;
  });
  await settle();
  assert.equal(ready()?.reason, 'Pending');
  assert.equal(api.writes.length, 1);
});

test('an error of the API server itself, which ends by itself, is not written', async () => {
  let attempts = 0;
  issue = away('KUBE_UNAVAILABLE', 'retry', () => `no answer ${(attempts += 1)}`);
  await create();
  await until('it is tried again', PATIENCE_MS, async () => {
    await time.advance(60_000);
    return attempts > 2;
  });
  await settle();
  assert.equal(api.writes.length, 0);
});

/** An API server that has just started denies each call until it has read the roles. */
test('a permission denied for seconds is not written, and no Event tells of it', async () => {
  const signs = issue;
  const startedAt = time.clock() + 5_000;
  let denials = 0;
  issue = () => {
    if (time.clock() >= startedAt) return signs();
    denials += 1;
    throw new KubeError({ status: 403, what: 'GET secret', body: { reason: 'Forbidden' } });
  };
  await create();
  await until('it is issued', PATIENCE_MS, async () => {
    await time.advance(200);
    return ready()?.reason === 'Issued';
  });
  assert.ok(denials > 2, `${denials} denials`);
  assert.equal(api.writes.length, 1);
  assert.deepEqual(component.notes, []);
});

test('a permission denied for longer is written, and an Event tells of it', async () => {
  issue = () => {
    throw new KubeError({ status: 403, what: 'GET secret', body: { reason: 'Forbidden' } });
  };
  await create();
  assert.equal(api.writes.length, 0);
  await until('it is written', PATIENCE_MS, async () => {
    await time.advance(1_000);
    return ready()?.reason === 'Pending';
  });
  assert.match(ready()?.message ?? '', /^MissingPermissions: /);
  assert.deepEqual(new Set(component.notes.map(({ reason }) => reason)), new Set([RIGHT_MISSING]));
  assert.equal(api.writes.length, 1);
});

for (const status of [409, 500, 403]) {
  test(`a write of Pending that is answered by ${status} is repeated`, async () => {
    api.refuse(status);
    await create(NO_RULE);
    await until('it is written', PATIENCE_MS, async () => {
      await time.advance(1_000);
      return ready()?.reason === 'Pending';
    });
    assert.equal(api.writes.length, 1);
  });
}

test('a write of Pending that is denied once has no Event', async () => {
  api.refuse(403);
  await create(NO_RULE);
  await until('it is written', PATIENCE_MS, async () => {
    await time.advance(1_000);
    return ready()?.reason === 'Pending';
  });
  assert.ok(component.notes.every(({ reason }) => reason !== RIGHT_MISSING));
});

const UNTOUCHED: readonly [string, readonly Condition[]][] = [
  ['unapproved', []],
  ['failed', [APPROVED, { type: 'Ready', status: 'False', reason: 'Failed' }]],
  ['issued', [APPROVED, { type: 'Ready', status: 'True', reason: 'Issued' }]],
  ['refused for its denial', [DENIED, { type: 'Ready', status: 'False', reason: 'Denied' }]],
];

/** The outcome of a denial that could not be written: its request is not pending. */
const FORBIDDEN: RequestOutcome = {
  outcome: 'waiting',
  reason: 'MissingPermissions',
  event: { type: 'Warning', reason: 'MissingPermissions', action: 'Wait', note: 'forbidden' },
};

for (const [state, conditions] of [...UNTOUCHED, ['denied', [APPROVED, DENIED]] as const]) {
  test(`a request that is ${state} never gets Pending, whatever failed`, () => {
    const request = certificateRequest({ conditions });
    assert.equal(pendingStatus(request, FORBIDDEN, NOW), undefined);
  });
}

for (const [state, conditions] of UNTOUCHED) {
  test(`a request that is ${state} is not written`, async () => {
    await create({ ...NO_RULE, conditions });
    wakeSigner();
    await settle();
    assert.equal(api.writes.length, 0);
  });
}
