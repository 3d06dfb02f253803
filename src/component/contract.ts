// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Client } from '#kube/client/client.ts';
import type { DelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import type { MissingPermission } from '#kube/client/access-review.ts';
import type { ShardFilter } from '#kube/lease/shard-filter.ts';
import type { EventRecorder } from '#kube/events/recorder.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { ConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import type { RateLimiter } from '#kube/workqueue/rate-limiter.ts';
import type { WatchMetrics } from '#kube/watch/reflector.ts';
import type { LoopMetrics } from '#kube/workqueue/run-loop.ts';
import type { Clock, Delay, Log, Monotonic, Random } from '#base/ports.ts';
import type { LeasePlace } from './leases.ts';
import type { Tracing } from './tracing.ts';
import type { ServingReporter } from './serving-state.ts';
import type { ServingFault } from '#api/serving/report.ts';
import type { SeriesRecorder } from './metric.ts';

/** The common parts of every controller, assembled by `app/run-component.ts`. */
export interface Component {
  /**
   * The subcommand: approver, signer, pcr-issuer, certificate-request, attester, authority,
   * pod-refresher or one of ACME.
   */
  readonly name: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly events: EventRecorder;
  /** Receives reports of what a controller cannot do for a signer. */
  readonly serving: ServingReporter;
  readonly metrics: WatchMetrics & LoopMetrics & SeriesRecorder;
  readonly queue: DelayingQueue;
  readonly limiter: RateLimiter;
  /** Limits how many keys of `queue` may call the API server at once. */
  readonly concurrency: ConcurrencyLimiter;
  /**
   * Returns the queue of one more loop in the same process, with its own rate limiter and
   * concurrency limiter.
   */
  readonly anotherLoop: (name: string) => Pick<Component, 'queue' | 'limiter' | 'concurrency'>;
  /** Selects the objects that this replica reconciles. */
  readonly shard: ShardFilter;
  /** The place of the replicas' Leases. Undefined if they use none. */
  readonly leases: LeasePlace | undefined;
  /**
   * The namespace of the CA Secrets. ClusterSigners whose CA Secret is elsewhere are not served.
   */
  readonly secretNamespace: string;
  /** Whether it serves Signers as well as ClusterSigners (`--namespaced-signers`). */
  readonly namespacedSigners: boolean;
  /**
   * Returns those of these permissions that the component lacks, by SelfSubjectAccessReviews.
   *
   * @throws KubeError if a review fails
   */
  readonly missingPermissions: (
    rules: readonly PermissionRule[],
  ) => Promise<readonly MissingPermission[]>;
  /** Name prefixes that the rules reserve for no certificate, besides `system:` and `kubeadm:`. */
  readonly reservedPrefixes: readonly string[];
  /** The number of seconds for which a bundle must have served an anchor before its CA signs. */
  readonly propagationSeconds: number;
  /** Traces requests. Absent if tracing is off. */
  readonly tracing?: Tracing | undefined;
}

/** A running component, from the point of view of `app`. */
export interface Controller {
  /** Works until `signal` is aborted, finishes the work in flight, then resolves. */
  run(signal: AbortSignal): Promise<void>;
  /** Returns why it is not ready, or nothing if it is. */
  notReady(): readonly string[];
  /** Returns faults that do not stop it. `/readyz` lists them and still answers 200. */
  warnings?(): readonly string[];
  /** Returns those faults that its Lease reports, for `countersign check`. */
  faults?(): readonly ServingFault[];
  /**
   * Returns the ClusterSigners and Signers that it sees. Absent if it has signers of another kind.
   */
  signers?(): readonly ClusterSigner[];
  /** Returns the permissions that it needs for the signers that it serves now. */
  permissions(): readonly PermissionRule[];
}
