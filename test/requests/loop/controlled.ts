// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { resource } from '#kube/resource/resource.ts';
import { watchSigners } from '#component/signers/signers.ts';
import type { Component, Controller } from '#component/contract.ts';
import type { RequestOutcome } from '#requests/loop/outcome.ts';
import { createRequestController } from '#requests/loop/request-controller.ts';
import { until } from '../../cluster/until.ts';
import { clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import type { Call } from '../../support/kube/scripted-server.ts';
import {
  PATIENCE_MS,
  bookmark,
  startStage,
  type Stage,
} from '../../support/kube/reflector-fixture.ts';

const NO_RULE = { apiGroups: [], resources: [], verbs: [] } as const;

export const SIGNER_NAME = 'example.com/workload';

export interface Request extends KubeObject {
  readonly done?: boolean;
  /** Until when it can wait. */
  readonly deadline?: number;
}

/** A request controller at work on a scripted API server, under a clock that stands still. */
export interface Controlled {
  readonly time: Stage['time'];
  /** The next call of the controller; waits for it. */
  next(what: string): Promise<Call>;
  readonly component: RecordedComponent;
  readonly controller: Controller;
  /** The watches, established and empty. */
  readonly signers: Call;
  readonly requests: Call;
  /** `name@resourceVersion` of every look at a request. */
  readonly looks: string[];
  readonly gone: readonly string[];
  /** What happens when a request is gone. */
  whenGone(by: () => Promise<void>): void;
  /** What a look comes to. */
  answer(
    by: (request: Request, signer: ClusterSigner) => RequestOutcome | Promise<RequestOutcome>,
  ): void;
  /** Whether CA and bundle have been read. */
  listCa(done: boolean): void;
  /** The CA of this signer name changed. */
  changeCa(signerName: string): void;
  looked(...wanted: readonly string[]): Promise<unknown>;
  stop(): Promise<void>;
}

export function componentOn(
  stage: Pick<Stage, 'client' | 'time'>,
  more: Partial<Component> = {},
): RecordedComponent {
  const { clock, startTimer, delay } = stage.time;
  const zeros = (size: number): Uint8Array => new Uint8Array(size);
  const counts = { added: () => undefined, depth: () => undefined, waited: () => undefined };
  const loop = (): Pick<Component, 'queue' | 'limiter' | 'concurrency'> => ({
    queue: createDelayingQueue(createQueue(clock, counts, zeros), clock, startTimer),
    limiter: createRateLimiter({ firstMs: 5, maxMs: 30_000, random: zeros }),
    concurrency: createConcurrencyLimiter({ clock, startTimer, random: zeros }),
  });
  return recordedComponent({
    client: stage.client,
    clock,
    delay,
    random: zeros,
    ...loop(),
    anotherLoop: loop,
    ...more,
  });
}

export function request(name: string, version: number, more: Partial<Request> = {}): Request {
  const { metadata } = clusterSigner({});
  const own = { ...metadata, name, uid: `${name}-1`, resourceVersion: String(version) };
  return { apiVersion: 'v1', kind: 'Thing', metadata: own, ...more };
}

/** The ClusterSigner that serves, as of this version. */
export function served(version: number, spec: unknown = workloadSpec()): KubeObject {
  const object = clusterSigner(spec);
  const own = { resourceVersion: String(version), generation: version };
  return { ...object, metadata: { ...object.metadata, ...own } };
}

export async function startControlled(more: Partial<Component> = {}): Promise<Controlled> {
  const stage = await startStage();
  const component = componentOn(stage, more);
  const [looks, gone, stop] = [[] as string[], [] as string[], new AbortController()];
  let listed = true;
  let leaving = (): Promise<void> => Promise.resolve();
  let answering: (
    request: Request,
    signer: ClusterSigner,
  ) => RequestOutcome | Promise<RequestOutcome> = () => ({
    outcome: 'undecided',
    reason: 'NoRuleMatched',
  });
  let onChange: (signerName: string) => void = () => undefined;
  const controller = createRequestController<Request, ClusterSigner>({
    component,
    signers: watchSigners(component),
    kind: 'CertificateSigningRequest',
    resource: resource({ group: 'example.com', version: 'v1', plural: 'things' }),
    workers: 2,
    serves: ({ requests }) => requests !== undefined,
    isPending: ({ done }) => done !== true,
    fairnessKeyOf: ({ metadata: { namespace }, deadline }) => ({
      distinguishers: [namespace ?? ''],
      deadline,
    }),
    retainedFields: ({ deadline }) => ({ deadline }),
    handle: async (one, signer) => {
      looks.push(`${one.metadata.name}@${one.metadata.resourceVersion}`);
      return answering(one, signer);
    },
    regarding: ({ apiVersion, kind, metadata: { name } }) => ({
      regarding: { apiVersion, kind, name },
    }),
    permissions: (served) => [
      { ...NO_RULE, resourceNames: served.map(({ spec }) => spec.signerName) },
    ],
    sources: {
      serve: () => undefined,
      listed: () => listed,
      onChange: (listener) => {
        onChange = listener;
      },
      notReady: () => [],
      stop: () => Promise.resolve(),
    },
    onGone: (key) => {
      gone.push(key);
      return leaving();
    },
  });
  const running = controller.run(stop.signal);
  const signers = await stage.server.next('the watch of ClusterSigners');
  signers.lines({ type: 'ADDED', object: served(1) }, bookmark(1, true));
  const requests = await stage.server.next('the watch of requests');
  return {
    time: stage.time,
    next: (what) => stage.server.next(what),
    component,
    controller,
    signers,
    requests,
    looks,
    gone,
    whenGone: (by) => {
      leaving = by;
    },
    answer: (by) => {
      answering = by;
    },
    listCa: (done) => {
      listed = done;
    },
    changeCa: (signerName) => {
      onChange(signerName);
    },
    looked: (...wanted) =>
      until(`looks at ${wanted.join()}`, PATIENCE_MS, () =>
        wanted.every((each) => looks.includes(each)),
      ),
    stop: async () => {
      stop.abort(new Error('stopped'));
      await running.finally(() => stage.stop());
    },
  };
}
