// SPDX-License-Identifier: Apache-2.0
/** One signer with its Secret, and a Vault that answers as the test says. */
import assert from 'node:assert/strict';
import { findCondition } from '#api/request/conditions.ts';
import { formatTime } from '#api/object/time.ts';
import type { Secret } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { HttpCall, HttpAnswer } from '#base/egress/exchange.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { createCaRequest, createManagedAuthorities } from '#ca/custody/managed.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { applyStep } from '#trust/authority/apply/apply-step.ts';
import { returnedChain } from '#trust/authority/decide/upstream.ts';
import { inspectWith } from '#trust/authority/decide/inspect.ts';
import type { PatchOperation } from '#trust/authority/apply/secret-patch.ts';
import { createUpstreams } from '#trust/authority/upstream/index.ts';
import { createVaults, type VaultsInit } from '#trust/authority/upstream/vault/index.ts';
import { createCompanyRoot } from '../ca/company-root.ts';
import { random } from '../ca/issuing.ts';
import { recordedLog } from '../component/recorded-log.ts';
import { patched } from '../kube/json-patch.ts';
import { recordedClient, type RecordedClient } from '../kube/recorded-client.ts';
import { NOW } from '../pki/chain.ts';
import { planOf } from '../trust/ca-secrets.ts';
import { workload } from '../signers/workload-profile.ts';

export const COMPANY = await createCompanyRoot();
export const OTHERS = await createCompanyRoot();
export const ROOT = COMPANY.certificate;
export const SERVER = 'https://vault.example.com:8200';
/** The file with the token. */
const FILE = '/tokens/0';
/** As a ServiceAccount's token: three parts, the last of which is its signature. */
export const TOKEN = `eyJhbGciOiJSUzI1NiJ9.${'payload'.repeat(20)}.${'signature'.repeat(20)}`;
export const CLIENT_TOKEN = `hvs.${'AbCdEf123456'.repeat(6)}`;

export const UPSTREAM = {
  server: SERVER,
  mount: 'pki',
  auth: { mount: 'kubernetes', role: 'countersign' },
  rootFingerprint: fingerprint(ROOT.raw),
  anchor: 'Root',
  trustEverythingBelow: true,
};

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

/** One signer, its Secret and its Vault. */
export class Stage {
  readonly #client: RecordedClient = recordedClient();
  #secret: Secret | undefined;
  #upstreams;
  signer: ClusterSigner;
  now = NOW;
  readonly calls: HttpCall[] = [];
  readonly outcomes: string[] = [];
  readonly woken: string[] = [];
  readonly log = recordedLog();
  /** Answers by the end of the path. */
  issuer = (): Answer => json(200, { data: { certificate: COMPANY.material.certificate } });
  login = (): Answer => json(200, { auth: { client_token: CLIENT_TOKEN } });
  sign = (body: Readonly<Record<string, string>>): Answer => this.signed(body);
  token: () => Promise<string> = () => Promise.resolve(`${TOKEN}\n`);
  /** While it is set, Vault does not answer. */
  hold: Promise<unknown> | undefined;

  constructor(more: object = {}, managed: Readonly<Record<string, unknown>> = {}) {
    this.signer = workload({
      'authority.managed.upstream': { vault: { ...UPSTREAM, ...more } },
      ...managed,
    });
    this.#client.answer(({ method, body }) => (this.#secret = this.#written(method, body)));
    this.#upstreams = this.restarted();
  }

  /** Begins anew, with what the cluster has. */
  restart(): void {
    this.#upstreams = this.restarted();
  }

  restarted(): ReturnType<typeof createUpstreams> {
    const init: VaultsInit = {
      client: this.#client,
      clock: () => this.now,
      random,
      log: this.log,
      access: {
        tokenFiles: new Map([[SERVER, FILE]]),
        readToken: (file) => (file === FILE ? this.token() : Promise.reject(new Error('other'))),
        open: () => ({ send: (call) => this.#answer(call), close: () => Promise.resolve() }),
      },
      wake: (key) => this.woken.push(key),
      count: (outcome) => this.outcomes.push(outcome),
    };
    const vaults = createVaults(init);
    return createUpstreams({ client: this.#client, clock: () => this.now, random, vaults });
  }

  async #answer(call: HttpCall): Promise<Answer> {
    this.calls.push(call);
    await this.hold;
    const { url, body = '{}' } = call;
    if (url.endsWith('/json')) return this.issuer();
    if (url.endsWith('/login')) return this.login();
    if (url.endsWith('/sign-intermediate')) {
      return this.sign(JSON.parse(body) as Readonly<Record<string, string>>);
    }
    return json(204, {});
  }

  /** What Vault answers when it signs. */
  signed({ csr = '', ttl = '' }: Readonly<Record<string, string>>, by = COMPANY): HttpAnswer {
    const days = Number(ttl.replace('s', '')) / 86_400;
    const [certificate, issuing] = [by.sign(csr, days, this.now), by.material.certificate];
    return json(200, { data: { certificate, issuing_ca: issuing, ca_chain: [issuing] } });
  }

  #written(method: string, body: unknown): Secret {
    if (method === 'PATCH' && this.#secret !== undefined) {
      return patched(this.#secret, body as readonly PatchOperation[]);
    }
    const made = body as Secret;
    const metadata = { uid: 's-1', resourceVersion: '1', creationTimestamp: formatTime(NOW) };
    return { ...made, metadata: { ...made.metadata, ...metadata } };
  }

  /** Reconciles until nothing changes and no call runs. Returns the kinds of the steps. */
  async settle(): Promise<readonly string[]> {
    const kinds: string[] = [];
    for (let turn = 0; turn < 16; turn += 1) {
      const woken = this.woken.length;
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
      if (step !== undefined && managed !== undefined) {
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
        continue;
      }
      for (let tick = 0; tick < 20; tick += 1) await Promise.resolve();
      await new Promise(setImmediate);
      if (this.woken.length === woken) return kinds;
    }
    throw new Error(`does not settle: ${kinds.join(', ')}`);
  }

  /** Changes the spec, as a user does. */
  change(more: object): void {
    const { managed } = this.signer.spec.authority;
    const vault = managed?.upstream?.vault;
    assert.ok(managed !== undefined && vault !== undefined);
    const { metadata, spec } = this.signer;
    const upstream = { vault: { ...vault, ...more } };
    this.signer = {
      ...this.signer,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: { ...spec, authority: { managed: { ...managed, upstream } } },
    };
  }

  to(end: string): readonly HttpCall[] {
    return this.calls.filter(({ url }) => url.endsWith(end));
  }

  get signatures(): number {
    return this.to('/sign-intermediate').length;
  }

  awaiting(): readonly [reason: string, message: string] {
    const found = findCondition(this.signer.status?.conditions, 'AwaitingCertificate');
    return [found?.reason ?? '', found?.message ?? ''];
  }
}

/** The request of another key. */
export async function otherRequest(): Promise<string> {
  const made = await createCaRequest({
    keyType: 'ECDSAP256',
    commonName: 'Other',
    crossSigned: false,
    now: NOW,
  });
  return made.request;
}
