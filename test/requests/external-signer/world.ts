// SPDX-License-Identifier: Apache-2.0
/** external-signer on an API server in memory, with a Vault that answers as the test says. */
import type { KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Condition } from '#api/request/conditions.ts';
import type { HttpCall, HttpAnswer } from '#base/egress/exchange.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import type { LeafSubject } from '#base/vocabulary.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { encodeLeafTbs, type LeafTbsInput } from '#ca/issuance/leaf.ts';
import type { Component } from '#component/contract.ts';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { resource } from '#kube/resource/resource.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { encodeCertificate } from '#pki/x509/encode-certificate.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { createExternalSigner } from '#requests/external-signer/index.ts';
import { openKeptChains } from '#requests/external-signer/kept-chains.ts';
import { createPodIssuing } from '#requests/pcr-issuer/index.ts';
import { createCsrSigning } from '#requests/signer/index.ts';
import { made, type Wanted } from '../../ca/policy/request.ts';
import type { CaPem } from '../../support/ca/ca-secret.ts';
import { intermediateMaterial, ISSUING, ROOT } from '../../support/ca/intermediate.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { memoryApi, type MemoryApi, type Thing } from '../../support/kube/memory-api.ts';
import { NOW } from '../../support/pki/chain.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';

export const SIGNER_NAME = 'example.com/corporate';
export const SIGNER = '/apis/countersign.dev/v1alpha1/externalclustersigners/corporate';
export const CSR = '/apis/certificates.k8s.io/v1/certificatesigningrequests/a';
export const POD =
  '/apis/certificates.k8s.io/v1/namespaces/team-a/podcertificaterequests/req-web-0';
export const SERVER = 'https://vault.example.com:8200';
/** The servers that the installation lists. The last two are one. */
const SERVERS = [SERVER, 'https://vault.example.com', 'https://vault.example.com:443'];
/** As a ServiceAccount's token: three parts, the last of which is its signature. */
export const TOKEN = `eyJhbGciOiJSUzI1NiJ9.${'payload'.repeat(20)}.${'signature'.repeat(20)}`;
export const CLIENT_TOKEN = `hvs.${'AbCdEf123456'.repeat(6)}`;

type Answer = HttpAnswer | NoAnswer;

export function json(
  status: number,
  body: unknown,
  headers: HttpAnswer['headers'] = {},
): HttpAnswer {
  return { status, headers, body: Buffer.from(JSON.stringify(body)) };
}

export const LOST: NoAnswer = {
  kind: 'transport',
  cause: 'timeout',
  detail: 'no answer within 20 s',
  mayHaveArrived: true,
};

/** A role as `docs/how-to/vault.md` makes it, in the form in which Vault shows it. */
export const ROLE = {
  allow_any_name: true,
  use_csr_sans: false,
  use_csr_common_name: false,
  require_cn: false,
  organization: [],
  ou: [],
  country: [],
  not_after: '',
  key_type: 'any',
  key_usage: ['DigitalSignature'],
  ext_key_usage: [],
  ext_key_usage_oids: [],
  server_flag: true,
  client_flag: true,
  code_signing_flag: false,
  email_protection_flag: false,
  not_before_duration: 30,
  max_ttl: 86_400,
  ttl: 0,
  issuer_ref: 'default',
};

/** A CA that signs as Vault does. */
interface VaultCa {
  readonly facts: AuthorityFacts;
  readonly key: KeyObject;
}

/** Opens the CA of a certificate and its key, as PEM. */
export function vaultCa(material: CaPem, now: number): VaultCa {
  const { facts } = openLocalAuthority({ ...material, anchors: undefined }, now);
  return { facts, key: readPrivateKey(material.key) };
}

const INTERMEDIATE = vaultCa(intermediateMaterial(), NOW);

type Body = Readonly<Record<string, unknown>>;

/** A Vault whose every answer a test may replace. */
export class FakeVault {
  readonly calls: HttpCall[] = [];
  readonly #time: FakeTime;
  role: object = ROLE;
  login = (): Answer | Promise<Answer> => json(200, { auth: { client_token: CLIENT_TOKEN } });
  /** What it signs. A test changes the certificate, or the answer. */
  sign: (body: Body) => Answer | Promise<Answer> = (body) => this.signed(body);

  constructor(time: FakeTime) {
    this.#time = time;
  }

  get orders(): readonly HttpCall[] {
    return this.calls.filter(({ url }) => url.includes('/sign/'));
  }

  readonly send = async (call: HttpCall): Promise<Answer> => {
    this.calls.push(call);
    await nextTurn();
    const { url, body = '{}' } = call;
    if (url.endsWith('/login')) return this.login();
    if (url.endsWith('/json')) {
      return json(200, { data: { certificate: ISSUING.toString(), ca_chain: [] } });
    }
    if (url.includes('/roles/')) return json(200, { data: this.role });
    if (url.includes('/sign/')) return this.sign(JSON.parse(body) as Body);
    return json(204, {});
  };

  /** The answer of a Vault that signs what it was told to, changed. */
  signed(body: Body, change: Partial<LeafTbsInput> = {}, above = ISSUING.toString()): HttpAnswer {
    const certificate = leafOf(body, this.#time.clock(), change);
    return json(200, { data: { certificate, ca_chain: [above] } });
  }
}

/** A leaf as Vault makes it: by the names of the body, backdated by the role. */
export function leafOf(
  body: Body,
  now: number,
  change: Partial<LeafTbsInput> = {},
  { facts, key } = INTERMEDIATE,
): string {
  const { publicKey } = decodeRequest(decodePem(String(body['csr']), 'CERTIFICATE REQUEST'));
  const listed = (name: string): readonly string[] => {
    const value = body[name];
    if (Array.isArray(value)) return value as readonly string[];
    return typeof value === 'string' && value !== '' ? value.split(',') : [];
  };
  const subject: LeafSubject = {
    commonName: listed('common_name')[0] ?? '',
    organizations: [],
    organizationalUnits: [],
    dnsNames: listed('alt_names').filter((each) => !each.includes('@')),
    ipAddresses: listed('ip_sans'),
    uris: listed('uri_sans'),
    emails: listed('alt_names').filter((each) => each.includes('@')),
  };
  const second = Math.floor(now / 1000) * 1000;
  const seconds = Number.parseInt(String(body['ttl']), 10);
  const random = (size: number): Uint8Array => new Uint8Array(size).fill(7);
  const algorithm = signatureAlgorithm(key);
  const tbs = encodeLeafTbs({
    subject,
    publicKey,
    usages: ['digital signature', 'client auth', 'server auth'],
    validity: { notBefore: second - 30_000, notAfter: second + seconds * 1000 },
    issuer: facts,
    random,
    ...change,
  });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return encodePem('CERTIFICATE', der);
}

export function signerObject(spec: object = {}, vault: object = {}): Thing {
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ExternalClusterSigner',
    metadata: {
      name: 'corporate',
      uid: 'signer-corporate',
      resourceVersion: '1',
      creationTimestamp: '2026-11-21T05:00:00Z',
    },
    spec: {
      signerName: SIGNER_NAME,
      authority: {
        vault: { server: SERVER, mount: 'pki', role: 'pods', auth: { role: 'cs' }, ...vault },
        anchors: ROOT.toString(),
      },
      pods: {
        allow: 'true',
        uris: ["'spiffe://cluster.local/ns/' + pod.namespace + '/sa/' + pod.serviceAccount"],
        dnsNames: ["pod.name + '.team-a.svc'"],
      },
      requests: { copy: ['commonName'] },
      ...spec,
    },
  };
}

/** An approved CertificateSigningRequest of the signer name, created now. */
export function csrObject(wanted: Wanted = {}): Thing {
  const { csr } = made(wanted);
  const creationTimestamp = new Date(NOW).toISOString().replace('.000Z', 'Z');
  return {
    ...csr,
    metadata: { ...csr.metadata, name: 'a', uid: 'a-uid', creationTimestamp },
    spec: { ...csr.spec, signerName: SIGNER_NAME },
    status: { conditions: [{ type: 'Approved', status: 'True', reason: 'ByHand' }] },
  };
}

export function podObject(spec: object = {}): Thing {
  return podRequest({ signerName: SIGNER_NAME, ...spec });
}

const zeros = (size: number): Uint8Array => new Uint8Array(size);

/** A world that outlives its processes: the API server, Vault and the disk of the pod. */
export class World {
  readonly time = fakeTime(NOW);
  readonly api: MemoryApi = memoryApi();
  readonly vault = new FakeVault(this.time);
  readonly directory = mkdtempSync(join(tmpdir(), 'kept-chains-'));
  component: RecordedComponent = recordedComponent({});
  /** Limit of the kept chains. Undefined: that of the program. */
  maxBytes: number | undefined = undefined;
  #abort = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  /** Starts a process. */
  async start(parts: Partial<Component> = {}): Promise<void> {
    const { time } = this;
    const counts = { added: () => undefined, depth: () => undefined, waited: () => undefined };
    const loop = (): Pick<Component, 'queue' | 'limiter' | 'concurrency'> => ({
      queue: createDelayingQueue(
        createQueue(time.clock, counts, zeros),
        time.clock,
        time.startTimer,
      ),
      limiter: createRateLimiter({ firstMs: 1_000, maxMs: 30_000, random: zeros }),
      concurrency: createConcurrencyLimiter({ ...time, random: zeros }),
    });
    const component = recordedComponent({
      name: 'external-signer',
      client: this.api.client,
      clock: time.clock,
      delay: time.delay,
      random: zeros,
      ...loop(),
      anotherLoop: loop,
      ...parts,
    });
    this.component = component;
    const requests = resource({
      group: 'certificates.k8s.io',
      version: 'v1',
      plural: 'podcertificaterequests',
    });
    const controller = createExternalSigner({
      component,
      access: {
        tokenFiles: new Map(SERVERS.map((server, index) => [server, `/tokens/${index}`])),
        readToken: () => Promise.resolve(`${TOKEN}\n`),
        open: () => ({ send: this.vault.send, close: () => Promise.resolve() }),
      },
      chains: await openKeptChains(this.directory, { ...component, maxBytes: this.maxBytes }),
      issueForPods: (init) => createPodIssuing({ ...init, requests, legacy: undefined }),
      signCsrs: createCsrSigning,
    });
    this.#abort = new AbortController();
    this.#running = controller.run(this.#abort.signal);
    await this.until(() => this.ready() !== undefined);
    await this.settle();
  }

  /** Lets everything come to rest. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < 12; turns += 1) {
      await this.time.advance(0);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  /** Lets things happen until this holds. Files of the disk are real, and take real time. */
  async until(holds: () => boolean): Promise<void> {
    for (let turns = 0; turns < 5_000 && !holds(); turns += 1) {
      await this.time.advance(0);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async advance(ms: number): Promise<void> {
    await this.time.advance(ms);
    await this.settle();
  }

  conditionsOf(path: string): readonly Condition[] {
    const status = this.api.get(path)?.status ?? {};
    return (status as { conditions?: readonly Condition[] }).conditions ?? [];
  }

  ready(): Condition | undefined {
    return this.conditionsOf(SIGNER).find(({ type }) => type === 'Ready');
  }

  /** Types of the conditions of the pod's request. */
  outcome(): readonly string[] {
    return this.conditionsOf(POD).map(({ type }) => type);
  }

  /** Ends the process and leaves everything else. */
  async end(): Promise<void> {
    this.#abort.abort(new Error('stopped'));
    let ended = false;
    void this.#running.then(() => (ended = true));
    await this.until(() => ended);
    await this.#running;
  }

  async stop(): Promise<void> {
    await this.end();
    rmSync(this.directory, { recursive: true });
  }
}

/** A world with a signer that is ready. */
export async function startReady(spec: object = {}): Promise<World> {
  const world = new World();
  world.api.put(SIGNER, signerObject(spec));
  await world.start();
  return world;
}
