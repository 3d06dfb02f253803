// SPDX-License-Identifier: Apache-2.0
import { openServer, type AcmeServer } from '#acme/protocol/server.ts';
import type { SignerProblem } from '#acme/issuing/session.ts';
import type { AcmeSigner, AcmeSignerStatus } from '#api/acme/acme-signer.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { SignerError } from '#base/errors.ts';
import type { SolverGrant } from '#acme/solving/http/grants.ts';
import { solversRefusal } from '#acme/solving/namespaced.ts';
import { callBackOff, limitBackOff } from '#acme/orders/back-off.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import { reportRetry } from '#requests/loop/error-outcome.ts';
import { statusChanged, writeStatus } from '../store/write-status.ts';
import { credentialsOf } from './account-key.ts';
import type { AccountSecrets } from './account-secrets.ts';
import { resourceOfSigner, type AcmeSigners } from '#component/signers/acme-signers.ts';
import { openSession, type ReadySigner, type UnreadySigner } from './open-session.ts';
import { serverRefusal } from './server-refusal.ts';
import type { Sessions } from './sessions.ts';
import { readyReasonOf, withSignerStatus, type SignerConditions } from './signer-status.ts';
import type { ConnectGuard } from '#base/egress/connect-guard.ts';
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import * as messages from '../messages.ts';
import { ACME_SERIES } from '../metrics.ts';

/** Grants of an administrator to AcmeSigners of all namespaces. None by default. */
export interface NamespacedGrants {
  /** Directories of ACME servers. */
  readonly servers: readonly string[];
  /** Addresses that solvers and self-checks call. */
  readonly solvers: readonly SolverGrant[];
  /** Check of the addresses that connections may reach. */
  readonly guard: ConnectGuard;
}

export interface SignerLoopInit {
  readonly component: Component;
  readonly signers: AcmeSigners;
  readonly secrets: AccountSecrets;
  readonly sessions: Sessions;
  readonly namespaced: NamespacedGrants;
  readonly userAgent: string;
  readonly proxy?: EgressProxy | undefined;
}

/** Signers are few, and each has a server of its own that may be slow. */
const ACCOUNT_WORKERS = 4;

const ROLLS_OVER = ['KeyRollOver', messages.KEY_CHANGES] as const;

/** State of a signer outside its objects. */
interface AcmeSignerState {
  /** The open server, and the settings that opened it. */
  server?: { readonly of: string; readonly opened: AcmeServer };
  failures: number;
  /** Requested time of a key roll-over, in milliseconds. */
  rollOverAt?: number | undefined;
  /** Refusal of an Order or Challenge since the last check of the account. */
  refused?: SignerProblem | undefined;
}

/** Opens the account of each signer, and reports in its status whether it can order. */
export class SignerLoop {
  readonly #init: SignerLoopInit;
  readonly #component: Component;
  readonly #held = new Map<string, AcmeSignerState>();

  constructor(init: SignerLoopInit) {
    const { component, signers, sessions } = init;
    this.#init = init;
    this.#component = { ...component, ...component.anotherLoop('signers') };
    const { queue } = this.#component;
    signers.onChange((_names, keys) => {
      init.secrets.serve(signers.all());
      for (const key of keys) queue.add(key);
    });
    sessions.onRefused((key, problem) => {
      this.#of(key).refused = problem;
      sessions.set(key, undefined);
      queue.add(key);
    });
  }

  /** Queues all signers after a Secret or the leader changed. */
  readonly wakeAll = (): void => {
    for (const each of this.#init.signers.all()) this.#component.queue.add(keyOf(each.metadata));
  };

  /** Closes all sessions after another process started to lead. */
  readonly forget = (): void => {
    this.#init.sessions.clear();
    for (const { server } of this.#held.values()) void server?.opened.close();
    this.#held.clear();
  };

  readonly run = async (signal: AbortSignal): Promise<void> => {
    const component = this.#component;
    await runLoop(
      {
        ...component,
        workers: ACCOUNT_WORKERS,
        handle: (key) => this.#reconcile(key),
        onError: (key, error) => {
          reportRetry(component, error, { noun: 'signer', named: { key }, regarding: undefined });
        },
      },
      signal,
    );
    this.forget();
  };

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { signers, sessions } = this.#init;
    if (!this.#component.shard.owns(key) || !signers.settled) return undefined;
    const faulty = signers.faulty(key);
    const signer = signers.get(key);
    if (faulty !== undefined) {
      sessions.set(key, notReady('SpecInvalid', faulty.error.message));
      return this.#say(withStatus(faulty.object), {
        ready: { status: 'False', reason: 'SpecInvalid', message: faulty.error.message },
      });
    }
    if (signer === undefined) {
      sessions.set(key, undefined);
      void this.#held.get(key)?.server?.opened.close();
      this.#held.delete(key);
      return undefined;
    }
    const opened = await this.#open(key, signer);
    return opened === undefined ? 'backoff' : this.#settle(key, signer, opened);
  }

  /** Returns undefined until the Secrets are read. */
  async #open(key: string, signer: AcmeSigner): Promise<ReadySigner | UnreadySigner | undefined> {
    const held = this.#of(key);
    const { refused } = held;
    held.refused = undefined;
    const problem = this.#problemOf(key, signer);
    if (problem !== undefined) return problem;
    const { secrets } = this.#init;
    const now = serverTime(this.#component);
    const { secretNamespace } = this.#component;
    const credentials = await credentialsOf(signer, secrets, secretNamespace, now);
    if (credentials === undefined || 'reason' in credentials) return credentials;
    const server = this.#serverOf(held, signer);
    if (server === undefined) {
      const message = messages.invalidServer(signer.spec.acme.server);
      return { reason: 'NotAnAcmeServer', message };
    }
    // The server would refuse calls by a key that is about to change.
    const { keys } = credentials;
    if (keys.rollOver === true) this.#init.sessions.set(key, notReady(...ROLLS_OVER));
    const opened = await openSession(server, signer, credentials);
    held.rollOverAt = credentials.rollOverAt;
    // The account is valid, and yet the server refuses its orders. A person must act: retry until
    // then.
    return refused !== undefined && 'session' in opened ? { ...refused, again: true } : opened;
  }

  #problemOf(key: string, { metadata, spec }: AcmeSigner): SignerProblem | undefined {
    const rival = this.#init.signers.rivalOf(key);
    if (rival !== undefined) {
      const message = messages.signerNameTaken(rival, spec.signerName);
      return { reason: 'SignerNameConflict', message };
    }
    const { servers, solvers } = this.#init.namespaced;
    if (metadata.namespace === undefined) return undefined;
    const server = serverRefusal(spec.acme, servers);
    if (server !== undefined) return { reason: 'ServerNotAllowed', message: server };
    const refusal = solversRefusal({ metadata, spec }, solvers);
    return refusal === undefined ? undefined : { reason: 'SolverNotAllowed', message: refusal };
  }

  #serverOf(
    held: AcmeSignerState,
    { metadata, spec: { acme } }: AcmeSigner,
  ): AcmeServer | undefined {
    const of = JSON.stringify([acme.server, acme.additionalOrigins, acme.caBundle]);
    if (held.server?.of === of) return held.server.opened;
    void held.server?.opened.close();
    const { metrics, clock } = this.#component;
    try {
      const opened = openServer({
        directory: acme.server,
        additionalOrigins: acme.additionalOrigins,
        ca: acme.caBundle,
        clock,
        userAgent: this.#init.userAgent,
        proxy: this.#init.proxy,
        guard: metadata.namespace === undefined ? undefined : this.#init.namespaced.guard,
        onCall: (endpoint, status) => {
          metrics.of(ACME_SERIES).calls.inc({ endpoint, status });
        },
      });
      held.server = { of, opened };
      return opened;
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      return undefined;
    }
  }

  async #settle(
    key: string,
    signer: AcmeSigner,
    opened: ReadySigner | UnreadySigner,
  ): Promise<ReconcileResult> {
    const { sessions } = this.#init;
    const held = this.#of(key);
    if ('session' in opened) {
      const { session, persist, shown, rollOver } = opened;
      const message = messages.accountReady(session.account.account);
      const ready = { status: 'True', reason: 'AccountReady', message } as const;
      await this.#say(signer, { ready, rollOver: rollOver?.condition }, shown);
      sessions.set(key, { kind: 'ready', session, persist });
      return this.#untilRollOver(held, signer, rollOver);
    }
    const { reason, message, again = false, afterMs } = opened;
    sessions.set(key, notReady(reason, message));
    await this.#say(signer, { ready: { status: 'False', reason, message } });
    return again ? this.#later(held, signer, { reason, afterMs }) : undefined;
  }

  /** Schedules the next check of a ready signer, which concerns its key only. */
  #untilRollOver(
    held: AcmeSignerState,
    signer: AcmeSigner,
    rollOver: ReadySigner['rollOver'],
  ): ReconcileResult {
    if (rollOver?.again === true)
      return this.#later(held, signer, { ...rollOver.condition, ...rollOver });
    held.failures = 0;
    const { rollOverAt } = held;
    return rollOverAt === undefined ? undefined : requeueAt(this.#component, rollOverAt);
  }

  #later(
    held: AcmeSignerState,
    { metadata: { uid } }: AcmeSigner,
    { reason, afterMs }: { readonly reason: string; readonly afterMs?: number | undefined },
  ): ReconcileResult {
    // A limit with a duration does not count as a failure.
    if (afterMs === undefined) held.failures += 1;
    const own = reason === 'RateLimited' ? limitBackOff : callBackOff;
    const component = this.#component;
    return requeueAt(component, serverTime(component) + (afterMs ?? own(held.failures, uid)));
  }

  /** Writes the status once, if it changed. */
  async #say(
    signer: KubeObject & { readonly status: AcmeSignerStatus },
    conditions: SignerConditions,
    shown: Parameters<typeof withSignerStatus>[2] = {},
  ): Promise<undefined> {
    const { ready } = conditions;
    const component = this.#component;
    const next = withSignerStatus(signer, conditions, shown, serverTime(component));
    if (!statusChanged(signer.status, next.status)) return undefined;
    const written = await writeStatus(component, resourceOfSigner(signer), next);
    this.#init.signers.applyWrite(written);
    if (readyReasonOf(signer.status) === ready.reason) return undefined;
    const { apiVersion, kind, metadata } = signer;
    const { name, namespace, uid } = metadata;
    component.events.record({
      regarding: { apiVersion, kind, name, uid, ...(namespace === undefined ? {} : { namespace }) },
      type: ready.status === 'True' ? 'Normal' : 'Warning',
      reason: ready.reason,
      action: 'OpenAccount',
      note: ready.message,
    });
    return undefined;
  }

  #of(key: string): AcmeSignerState {
    const held = this.#held.get(key) ?? { failures: 0 };
    this.#held.set(key, held);
    return held;
  }
}

function notReady(reason: string, message: string) {
  return { kind: 'notReady', reason, message } as const;
}

function withStatus(
  object: KubeObject & { readonly status?: AcmeSignerStatus },
): KubeObject & { readonly status: AcmeSignerStatus } {
  return { ...object, status: object.status ?? {} };
}
