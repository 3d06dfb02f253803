// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '#api/request/conditions.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { resource } from '#kube/resource/resource.ts';
import { createLibraryControllers } from '#library/controller.ts';
import {
  defineAuthority,
  openCa,
  type AuthorityDefinition,
  type AuthorityType,
  type Context,
  type Issuer,
  type SignedCertificate,
  type SigningRequest,
} from '#library/index.ts';
import type { Component, Controller } from '#component/contract.ts';
import { made, type Wanted } from '../ca/policy/request.ts';
import { NOW } from '../support/pki/chain.ts';
import { fakeTime, type FakeTime } from '../support/kube/fake-time.ts';
import { intermediateMaterial } from '../support/ca/intermediate.ts';
import { memoryApi, type MemoryApi, type Thing } from '../support/kube/memory-api.ts';
import { podRequest } from '../support/requests/pod-certificate-request.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../support/component/recorded-component.ts';

export interface Config {
  readonly url: string;
}

export const SIGNER_NAME = 'testissuers.example.com/one';
export const ISSUER = '/apis/example.com/v1/testissuers/one';
export const CSR = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
export const POD =
  '/apis/certificates.k8s.io/v1/namespaces/team-a/podcertificaterequests/req-web-0';
/** How long requests are tried again. */
export const MAX_RETRY_MS = 60_000;
export const CALL_MS = 10_000;

/** The functions of an author, which a test replaces; and how often each was called. */
export interface Author {
  check: (issuer: Issuer<Config>, ctx: Context) => Promise<void>;
  sign: (
    request: SigningRequest,
    issuer: Issuer<Config>,
    ctx: Context,
  ) => Promise<SignedCertificate>;
  readonly checks: Issuer<Config>[];
  readonly signs: SigningRequest[];
}

/** An author's process at work on an API server in memory, under a clock that stands still. */
export interface World {
  readonly api: MemoryApi;
  readonly author: Author;
  readonly component: RecordedComponent;
  readonly controller: Controller;
  /** Names of the loops that have queues of their own. */
  readonly loops: readonly string[];
  readonly time: FakeTime;
  /** Lets everything come to rest. */
  readonly settle: () => Promise<void>;
  /** The Ready condition of the issuer. */
  readonly ready: () => Condition | undefined;
  readonly conditionsOf: (path: string) => readonly Condition[];
  /** What /readyz demands of the process's roles. */
  readonly permissions: () => readonly PermissionRule[];
  readonly stop: () => Promise<void>;
}

export function ok(
  request: SigningRequest,
  _issuer: unknown,
  ctx: Context,
): Promise<SignedCertificate> {
  return openCa(intermediateMaterial(), ctx).sign(request, ctx);
}

/** A `sign` that throws this. */
export function fail(error: Error): () => Promise<SignedCertificate> {
  return () => Promise.reject(error);
}

const zeros = (size: number): Uint8Array => new Uint8Array(size);

export function issuerObject(spec: object = {}, more: Partial<Thing['metadata']> = {}): Thing {
  return {
    apiVersion: 'example.com/v1',
    kind: 'TestIssuer',
    metadata: {
      name: 'one',
      uid: 'issuer-one',
      resourceVersion: '1',
      creationTimestamp: '2026-05-31T06:00:00Z',
      ...more,
    },
    spec: {
      authority: { url: 'https://ca.example.com' },
      profile: { keyTypes: ['ECDSAP256', 'ED25519', 'RSA3072'] },
      requests: { copy: ['commonName', 'organizations'] },
      pods: {
        allow: 'true',
        uris: ["'spiffe://cluster.local/ns/' + pod.namespace + '/sa/' + pod.serviceAccount"],
      },
      ...spec,
    },
  };
}

export const APPROVED: Condition = { type: 'Approved', status: 'True', reason: 'ByHand' };

/** A CertificateSigningRequest of the served signer name, created now. */
export function csrObject(
  name: string,
  conditions: readonly Condition[] = [APPROVED],
  wanted: Wanted = {},
): Thing {
  const { csr } = made(wanted);
  const creationTimestamp = new Date(NOW).toISOString().replace('.000Z', 'Z');
  return {
    ...csr,
    metadata: { ...csr.metadata, name, uid: `${name}-uid`, creationTimestamp },
    spec: { ...csr.spec, signerName: SIGNER_NAME },
    status: { conditions },
  };
}

export function podObject(): Thing {
  return podRequest({ signerName: SIGNER_NAME });
}

export async function startWorld(
  more: Partial<AuthorityDefinition<Config>> = {},
  parts: Partial<Component> = {},
  others: readonly AuthorityType[] = [],
): Promise<World> {
  const api = memoryApi();
  const time = fakeTime(NOW);
  const counts = { added: () => undefined, depth: () => undefined, waited: () => undefined };
  const loop = (): Pick<Component, 'queue' | 'limiter' | 'concurrency'> => ({
    queue: createDelayingQueue(createQueue(time.clock, counts, zeros), time.clock, time.startTimer),
    limiter: createRateLimiter({ firstMs: 1_000, maxMs: 30_000, random: zeros }),
    concurrency: createConcurrencyLimiter({ ...time, random: zeros }),
  });
  const loops: string[] = [];
  const component = recordedComponent({
    name: 'test',
    client: api.client,
    clock: time.clock,
    delay: time.delay,
    ...loop(),
    anotherLoop: (name) => {
      loops.push(name);
      return loop();
    },
    ...parts,
  });
  const author: Author = { check: () => Promise.resolve(), sign: ok, checks: [], signs: [] };
  const authority = defineAuthority<Config>({
    name: 'test-ca',
    issuer: { group: 'example.com', version: 'v1', kind: 'TestIssuer', plural: 'testissuers' },
    schema: { parse: configOf },
    check: (issuer, ctx) => {
      author.checks.push(issuer);
      return author.check(issuer, ctx);
    },
    sign: (request, issuer, ctx) => {
      author.signs.push(request);
      return author.sign(request, issuer, ctx);
    },
    ...more,
  });
  const of = (plural: string): ReturnType<typeof resource> =>
    resource({ group: 'certificates.k8s.io', version: 'v1', plural });
  const shared = {
    component,
    maxRetryMs: MAX_RETRY_MS,
    callMs: CALL_MS,
    bundles: of('clustertrustbundles'),
    pods: { requests: of('podcertificaterequests'), legacy: undefined },
  };
  const controller = createLibraryControllers(shared, [authority as AuthorityType, ...others]);
  const abort = new AbortController();
  const running = controller.run(abort.signal);
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 4; turns += 1) await time.advance(0);
  };
  await settle();
  const conditionsOf = (path: string): readonly Condition[] =>
    ((api.get(path)?.status ?? {}) as { conditions?: readonly Condition[] }).conditions ?? [];
  return {
    api,
    author,
    component,
    controller,
    loops,
    time,
    settle,
    conditionsOf,
    permissions: () => controller.permissions(),
    ready: () => conditionsOf(ISSUER).find(({ type }) => type === 'Ready'),
    stop: async () => {
      abort.abort(new Error('stopped'));
      // What is in flight is finished first, or its time is up.
      await time.advance(CALL_MS);
      await running;
    },
  };
}

/** With an issuer that is ready. */
export async function startReady(more: Partial<AuthorityDefinition<Config>> = {}): Promise<World> {
  const world = await startWorld(more);
  world.api.put(ISSUER, issuerObject());
  await world.settle();
  return world;
}

function configOf(value: unknown): Config {
  const { url } = (value ?? {}) as Partial<Config>;
  if (typeof url !== 'string') throw new Error('url is no text');
  return { url };
}
