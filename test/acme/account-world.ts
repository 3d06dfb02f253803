// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { openAccountKey } from '#acme/protocol/account-key.ts';
import { findAccount } from '#acme/protocol/accounts.ts';
import { openServer, type AcmeServer } from '#acme/protocol/server.ts';
import { accountSecretOf } from '#api/acme/account-key.ts';
import type { AcmeSigner, AcmeSignerStatus } from '#api/acme/acme-signer.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import type { KubeObject, Secret } from '#api/object/object.ts';
import { credentialsOf } from '#acme/acme/signers/account-key.ts';
import { openSession } from '#acme/acme/signers/open-session.ts';
import { withSignerStatus } from '#acme/acme/signers/signer-status.ts';
import type { PatchOperation } from '#trust/authority/apply/secret-patch.ts';
import { decideAccountKey, nextThumbprintOf } from '#trust/authority/account-keys/decide.ts';
import { writeAccountKey } from '#trust/authority/account-keys/write.ts';
import { acmeObject } from '../api/acme/build.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';
import { patched } from '../support/kube/json-patch.ts';
import type { Pebble } from './pebble.ts';

const KEYS = 'countersign-keys';
export const SIGNER_NAME = 'example.com/public';

/** A process that ended. */
export class Killed extends Error {}

/** The two processes of an account, step by step, and what outlives them. */
export class World {
  signer: KubeObject & { status: AcmeSignerStatus };
  readonly secrets = new Map<string, Secret>();
  /** Boundaries passed since it began. */
  passed: string[] = [];
  /** At which of them a process is killed, once. */
  killAt = Infinity;
  accountsMade = 0;
  #now = Date.parse('2026-11-22T12:00:00Z');
  readonly #at: Pebble;
  #server: AcmeServer | undefined;

  constructor(at: Pebble, acme: Readonly<Record<string, unknown>> = {}) {
    this.#at = at;
    const settings = { server: at.directory, caBundle: at.ca, termsOfServiceAgreed: true, ...acme };
    this.signer = { ...acmeObject(settings, SIGNER_NAME), status: {} };
  }

  /** The spec as somebody changes it. */
  change(acme: Readonly<Record<string, unknown>>): void {
    const { metadata, spec } = this.signer as unknown as {
      metadata: { generation: number };
      spec: { acme: object };
    };
    const generation = metadata.generation + 1;
    const changed = { spec: { ...spec, acme: { ...spec.acme, ...acme } } };
    const next = { ...this.signer.metadata, generation };
    this.signer = { ...this.signer, ...changed, metadata: next };
  }

  requested(): void {
    this.#now += 1000;
    const now = new Date(this.#now).toISOString();
    const annotations = { 'countersign.dev/prepare-at': now, 'countersign.dev/rotate-at': now };
    this.signer = { ...this.signer, metadata: { ...this.signer.metadata, annotations } };
  }

  get secret(): Secret | undefined {
    return this.secrets.get('account');
  }

  get read(): AcmeSigner {
    return readAcmeSigner(this.signer);
  }

  #boundary(what: string): void {
    this.passed.push(what);
    if (this.passed.length - 1 !== this.killAt) return;
    this.#server = undefined;
    throw new Killed(what);
  }

  /** What authority does, once. */
  async authority(): Promise<void> {
    const signer = this.read;
    const { secret } = this;
    const reference = accountSecretOf(signer, KEYS);
    const nextThumbprint = secret && (await nextThumbprintOf(secret));
    const now = this.#now;
    const step = decideAccountKey({ signer, reference, secret, nextThumbprint, now });
    const client = recordedClient();
    client.answer(({ method, body }) => {
      this.#boundary(`before ${step.kind}`);
      const made = body as { metadata: object };
      const written =
        method === 'POST'
          ? {
              ...made,
              metadata: {
                ...made.metadata,
                uid: 's',
                resourceVersion: '1',
                creationTimestamp: '2026-01-01T00:00:00Z',
              },
            }
          : patched(secret as unknown as object, body as readonly PatchOperation[]);
      this.secrets.set('account', written as unknown as Secret);
      this.#boundary(`after ${step.kind}`);
      return written;
    });
    await writeAccountKey(step.kind, { client, version: '1', signer, reference, secret, now });
  }

  /** What acme does, once. */
  async acme(): Promise<string> {
    const signer = this.read;
    const get = ({ name }: { readonly name: string }) => {
      const secret = this.secrets.get(name);
      return secret === undefined ? { problem: 'it does not exist', isMissing: true } : { secret };
    };
    const credentials = await credentialsOf(signer, { get }, KEYS, this.#now);
    assert.ok(credentials);
    if ('reason' in credentials) return credentials.reason;
    const opened = await openSession(this.#open(), signer, credentials);
    if (!('session' in opened)) return opened.reason;
    const ready = { status: 'True', reason: 'AccountReady', message: 'ready' } as const;
    const conditions = { ready, rollOver: opened.rollOver?.condition };
    const { status } = withSignerStatus(signer, conditions, opened.shown, this.#now);
    this.#boundary('before the status');
    this.signer = { ...this.signer, status };
    this.#boundary('after the status');
    return 'AccountReady';
  }

  #open(): AcmeServer {
    if (this.#server !== undefined) return this.#server;
    const { directory: url, ca } = this.#at;
    const server = openServer({
      directory: url,
      ca,
      userAgent: 'countersign-test',
      clock: Date.now,
      onCall: (endpoint, outcome) => {
        if (endpoint === 'newAccount' && outcome === '201') this.accountsMade += 1;
      },
    });
    const killable: AcmeServer = {
      ...server,
      post: async (caller, target, signal) => {
        this.#boundary(`before ${target.endpoint}`);
        const answer = await server.post(caller, target, signal);
        this.#boundary(`after ${target.endpoint}`);
        return answer;
      },
    };
    this.#server = killable;
    return killable;
  }

  async find(key: string): Promise<Awaited<ReturnType<typeof findAccount>>> {
    const { directory: url, ca } = this.#at;
    const server = openServer({ directory: url, ca, userAgent: 'test', clock: Date.now });
    try {
      return await findAccount(server, await openAccountKey(Buffer.from(key, 'base64').toString()));
    } finally {
      await server.close();
    }
  }

  /** Both do what they have to until `isDone`; whoever is killed begins again. */
  async until(isDone: () => boolean): Promise<void> {
    for (let round = 0; !isDone(); round += 1) {
      assert.ok(round < 20, `after ${this.passed.join(', ')}`);
      for (const step of [() => this.authority(), () => this.acme()])
        await step().catch((error: unknown) => {
          if (!(error instanceof Killed)) throw error;
        });
    }
  }
}
