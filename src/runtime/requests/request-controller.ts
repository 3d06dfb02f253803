// SPDX-License-Identifier: Apache-2.0
import type { SignerObject, SignerSpec } from '../../api/signer/cluster-signer.ts';
import type { KubeObject } from '../../api/object/object.ts';
import { SignerError, messageOf } from '../../errors.ts';
import type { EventDetails } from '../../kube/events/body.ts';
import type { FlowAssignment } from '../../kube/workqueue/fair-queue.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { createRateLimiter } from '../../kube/workqueue/rate-limiter.ts';
import { runLoop, type ReconcileResult } from '../../kube/workqueue/run-loop.ts';
import type { ReadMessage } from '../../kube/watch/watch-message.ts';
import type { Component, Controller } from '../component/component.ts';
import { toOutcome } from './error-outcome.ts';
import type { Outcome } from './outcome.ts';
import type { RequestKind } from '../component/metrics.ts';
import { report, wordOf } from './report.ts';
import type { ApiDiscovery } from '../component/api-discovery.ts';
import { createPendingRequests } from './pending-requests.ts';
import { createOrphanTakeover } from './orphan-takeover.ts';
import type { Intern } from './interner.ts';
import { bySignerName, type RequestSelector, type SignerSet } from '../signers/signer-set.ts';
import { createTold } from './told.ts';
import { createBackoffGroups } from './backoff-groups.ts';

export interface RequestControllerInit<T, S> {
  readonly component: Component;
  readonly kind: RequestKind;
  readonly resource: Resource;
  readonly workers: number;
  /** Whether a ClusterSigner takes such requests at all; others are no matter of ours, nor their CAs. */
  readonly serves: (spec: SignerSpec) => boolean;
  /** Which requests are a signer's; default: those of its signer name, in all namespaces. */
  readonly selectionOf?: (signer: S) => RequestSelector;
  /** Of a kind that an API server need not have; without it nothing is watched, and no CA read. */
  readonly discovery?: ApiDiscovery;
  readonly isPending: (request: T) => boolean;
  /** Whose requests it waits among, and until when it can; of what `stays`. */
  readonly fairnessKeyOf: (request: T) => FlowAssignment;
  readonly retainedFields: (request: T, shared: Intern) => object;
  readonly onFinished?: (request: T) => void;
  /** Reads a request in protobuf, where that is worth it. */
  readonly readMessage?: ReadMessage<T> | undefined;
  /**
   * What comes first, whether its signer can sign now or not; undefined: nothing. Throws what went
   * wrong.
   */
  readonly begin?: ((request: T) => Promise<Outcome | undefined>) | undefined;
  /** Works on one request of a signer that serves. Throws what went wrong. */
  readonly handle: (request: T, signer: S) => Promise<Outcome>;
  /** Whom an Event about a request regards. */
  readonly regarding: (request: T) => Pick<EventDetails, 'regarding' | 'related'>;
  readonly permissions: (signers: readonly S[]) => readonly PermissionRule[];
  readonly signers: SignerSet<S>;
  /** More to be watched for the served signers: CA Secrets and bundles. */
  readonly sources?: Sources<S> | undefined;
  /** The request `namespace/name` left the cache. */
  readonly onGone?: (key: string) => void;
}

/** What else a signer's requests wait for. */
export interface Sources<S> {
  serve(signers: readonly S[]): void;
  /** Why its requests wait until it, or what it signs with, changes; none is looked at before. */
  readonly waitsFor?: (signer: S) => string | undefined;
  /** Whether its CA and bundle have been read once, or cannot be read now. */
  listed(signer: S): boolean;
  /** Called with the signer name whose CA or bundle changed. */
  onChange(listener: (signerName: string) => void): void;
  notReady(): readonly string[];
  stop(): Promise<void>;
}

/** client-go's workqueue: what waits for itself alone is looked at sooner only when it changes. */
const FIRST_RETRY_MS = 5;
const MAX_RETRY_MS = 1_000_000;
/** Of all retries together: a tenth of what a core can decide and an API server can store. */
const RETRIES = { burst: 1_000, perSecond: 100 };

/** What has gone is forgotten quickly, and is nobody's. */
const NOWHERE: FlowAssignment = { distinguishers: [] };

/** The loop that all share who answer requests: watch, queue, handle, tell. */
export function createRequestController<T extends KubeObject, S extends SignerObject>(
  init: RequestControllerInit<T, S>,
): Controller {
  const { component, signers, sources, discovery: presence, selectionOf = bySignerName } = init;
  const { clock, queue, random } = component;
  const told = createTold();
  const waits = createBackoffGroups({
    clock,
    random,
    wake: queue.add,
    wakeAfter: (key, milliseconds) => {
      queue.addAt(key, clock() + milliseconds);
    },
  });
  const limiter = createRateLimiter({
    firstMs: FIRST_RETRY_MS,
    maxMs: MAX_RETRY_MS,
    random,
    overall: { ...RETRIES, clock },
  });
  /** Keys that are to be looked at again by themselves. */
  const due = new Set<string>();
  /** Keys at work, and whether something was heard of them meanwhile. */
  const atWork = new Map<string, boolean>();
  const requests = createPendingRequests<T>({
    ...init,
    onKey: (key, told) => {
      // What is told anew only because a server was away need not wait out its backoff.
      if (told !== 'changed' && !due.has(key)) return;
      // It may be our own write, heard of before it is answered.
      if (atWork.has(key)) atWork.set(key, true);
      else queue.add(key);
    },
  });
  const wake = (signerName: string): void => {
    for (const key of requests.keysOf(signerName)) queue.add(key);
  };
  const served = (): readonly S[] =>
    presence?.served === false ? [] : signers.all().filter(({ spec }) => init.serves(spec));
  const serve = (): void => {
    const serving = served();
    sources?.serve(serving);
    requests.serve(new Map(serving.map((each) => [each.spec.signerName, selectionOf(each)])));
  };
  signers.onChange((signerNames) => {
    serve();
    for (const name of signerNames) wake(name);
  });
  presence?.onChange(serve);
  sources?.onChange(wake);
  const rescue = createOrphanTakeover({ component, pending: () => requests.all() });
  component.shard.onChange(() => {
    for (const { spec } of served()) wake(spec.signerName);
  });
  queue.assignFlows((key) => {
    const kept = requests.peek(key);
    return kept === undefined ? NOWHERE : init.fairnessKeyOf(kept);
  });

  /** What became of it, or why that is not known. */
  async function attempted<R>(work: () => Promise<R>): Promise<R | Outcome> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      return toOutcome(error, component.name, component.client.clockOffset());
    }
  }

  async function handle(key: string): Promise<ReconcileResult> {
    // Until it is known: whoever throws is looked at again.
    due.add(key);
    atWork.set(key, false);
    try {
      const next = await look(key);
      if (next === undefined) due.delete(key);
      return next;
    } finally {
      if (atWork.get(key) === true) queue.add(key);
      atWork.delete(key);
    }
  }

  async function look(key: string): Promise<ReconcileResult> {
    if (isMine(key)) return work(key);
    if (rescue.claims(key)) await help(key);
    told.forget(key);
    waits.forget(key);
    return undefined;
  }

  /** What is gone is everybody's: each forgets what it knew of it. */
  function isMine(key: string): boolean {
    const kept = requests.peek(key);
    return kept === undefined || component.shard.owns(kept.metadata.uid);
  }

  /** One look at another replica's request, told of only if that ended it. */
  async function help(key: string): Promise<void> {
    const signer = signers.serving(key.slice(0, key.indexOf(' ')));
    const request = await requests.load(key).catch(() => undefined);
    if (request === undefined || signer === undefined) return;
    if (sources?.listed(signer) === false || sources?.waitsFor?.(signer) !== undefined) return;
    const outcome = await attempted(() => init.handle(request, signer));
    if (outcome.written === undefined) return;
    const { signerName } = signer.spec;
    requests.applyWrite(signerName, outcome.written as T);
    report(init, { request, signerName, outcome, news: true });
  }

  async function work(key: string): Promise<ReconcileResult> {
    const signerName = key.slice(0, key.indexOf(' '));
    const read = await attempted(async () => ({ request: await requests.load(key) }));
    if ('outcome' in read) return unread(key, signerName, read);
    const { request } = read;
    const signer = signers.serving(signerName);
    if (request === undefined || signer === undefined) {
      told.forget(key);
      waits.forget(key);
      init.onGone?.(key.slice(key.indexOf(' ') + 1));
      return undefined;
    }
    // At start all lists run at once: what its people would be told before is not known to be true.
    if (sources?.listed(signer) === false) return rest(key, `${signerName} listing`);
    const outcome = await judged(request, signer);
    const left = (outcome.written ?? outcome.changed) as T | undefined;
    if (left !== undefined) leave(key, signerName, left);
    report(init, { request, signerName, outcome, news: isNews(key, outcome) });
    return again(key, signerName, outcome);
  }

  /** What it ended needs no second look, whatever was heard of it at work. */
  function leave(key: string, signerName: string, left: T): void {
    if (requests.isCurrent(signerName, left)) atWork.set(key, false);
    requests.applyWrite(signerName, left);
    if (requests.peek(key) !== undefined) return;
    atWork.set(key, false);
    init.onGone?.(key.slice(key.indexOf(' ') + 1));
  }

  async function judged(request: T, signer: S): Promise<Outcome> {
    const { begin } = init;
    const begun = begin && (await attempted(() => begin(request)));
    if (begun !== undefined) return begun;
    const message = sources?.waitsFor?.(signer);
    if (message === undefined) return attempted(() => init.handle(request, signer));
    return { outcome: 'waiting', reason: 'IssuerNotReady', message, again: 'on-change' };
  }

  function isNews(key: string, outcome: Outcome): boolean {
    if (outcome.written === undefined) return told.isNews(key, wordOf(outcome));
    told.forget(key);
    return true;
  }

  function unread(key: string, signerName: string, outcome: Outcome): ReconcileResult {
    const news = told.isNews(key, `unread ${outcome.reason}`);
    const { message: error } = outcome;
    component.log[news ? 'warn' : 'debug']({ key, error }, 'a request could not be read; it waits');
    return again(key, signerName, outcome);
  }

  function again(key: string, signerName: string, outcome: Outcome): ReconcileResult {
    const { reason, sharedBy } = outcome;
    if (outcome.outcome === 'waiting' && sharedBy !== undefined) {
      return rest(key, sharedBy === 'signer' ? `${signerName} ${reason}` : reason);
    }
    if (outcome.again === 'on-change') {
      // It got nowhere: that says nothing of what others wait for.
      waits.forget(key);
      return undefined;
    }
    waits.solved(key);
    if (outcome.again !== undefined) return outcome.again;
    return outcome.outcome === 'waiting' ? 'backoff' : undefined;
  }

  function rest(key: string, cause: string): ReconcileResult {
    return { requeueAt: clock() + waits.join(key, cause) };
  }

  return {
    permissions: () => init.permissions(served()),
    notReady: () => [
      ...(signers.settled ? [] : [`ClusterSigners: ${signers.failure ?? 'not listed yet'}`]),
      ...(presence?.notReady() ?? []),
      ...requests.notReady(),
      ...(sources?.notReady() ?? []),
    ],
    warnings: () => [...(signers.warnings?.() ?? []), ...(presence?.warnings() ?? [])],
    run: async (signal) => {
      const watching = [signers.run(signal), rescue.run(signal), presence?.run(signal)];
      await runLoop(
        {
          ...component,
          limiter,
          workers: init.workers,
          handle,
          onError: (key, error) => {
            // It says nothing of what it waited for: another one is to look.
            waits.forget(key);
            const fields = {
              key,
              error: messageOf(error),
              stack: error instanceof Error ? error.stack : undefined,
            };
            component.log.error(fields, 'an unexpected error; the request waits');
          },
        },
        signal,
      );
      await Promise.all([...watching, requests.stop(), sources?.stop()]);
    },
  };
}
