// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { Client } from '../../kube/client/client.ts';
import type { DelayingQueue } from '../../kube/workqueue/delaying-queue.ts';
import type { MissingPermission } from '../../kube/client/access-review.ts';
import type { ShardFilter } from '../../kube/lease/shard-filter.ts';
import type { EventRecorder } from '../../kube/events/recorder.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { ConcurrencyLimiter } from '../../kube/workqueue/concurrency-limiter.ts';
import type { RateLimiter } from '../../kube/workqueue/rate-limiter.ts';
import type { WatchMetrics } from '../../kube/watch/reflector.ts';
import type { LoopMetrics } from '../../kube/workqueue/run-loop.ts';
import type { Clock, Delay, Log, Monotonic, Random } from '../../ports.ts';
import type { LedgerRecorder } from '../recording/recorder.ts';
import type { LeasePlace } from './leases.ts';
import type { Tracing } from './tracing.ts';
import type { ServingReporter } from './serving-state.ts';
import type { ServingFault } from '../../api/serving/report.ts';
import type {
  AcmeMetrics,
  LedgerMetrics,
  RefreshMetrics,
  RequestMetrics,
  ResponderMetrics,
  TrustMetrics,
  EndpointMetrics,
  FederationMetrics,
  NotificationMetrics,
} from './metrics.ts';

/** What every controller is made from; `app/component.ts` puts it together. */
export interface Component {
  /** The subcommand: approver, signer, pcr-issuer, certificate-request, attester, authority, pod-refresher or one of ACME. */
  readonly name: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly events: EventRecorder;
  /** Where a controller reports what it cannot do for a signer. */
  readonly serving: ServingReporter;
  readonly metrics: WatchMetrics &
    LoopMetrics &
    RequestMetrics &
    TrustMetrics &
    EndpointMetrics &
    FederationMetrics &
    ResponderMetrics &
    AcmeMetrics &
    RefreshMetrics &
    LedgerMetrics &
    NotificationMetrics;
  readonly queue: DelayingQueue;
  readonly limiter: RateLimiter;
  /** Limits how many keys the loop of `queue` reconciles at once. */
  readonly concurrency: ConcurrencyLimiter;
  /** A queue for one more loop in the same process, with a rate limiter and a concurrency limiter of its own. */
  readonly anotherLoop: (name: string) => Pick<Component, 'queue' | 'limiter' | 'concurrency'>;
  /** Which objects this replica reconciles. */
  readonly shard: ShardFilter;
  /** Where the replicas keep their Leases; undefined: they use none. */
  readonly leases: LeasePlace | undefined;
  /** Only ClusterSigners whose CA Secret is in this namespace are served. */
  readonly secretNamespace: string;
  /** Whether Signers are served as well as ClusterSigners (`--namespaced-signers`). */
  readonly namespacedSigners: boolean;
  /**
   * Those of these permissions that the component lacks, by SelfSubjectAccessReviews.
   *
   * @throws KubeError if a review fails
   */
  readonly missingPermissions: (
    rules: readonly PermissionRule[],
  ) => Promise<readonly MissingPermission[]>;
  /** Name prefixes that no certificate gets, besides `system:` and `kubeadm:`. */
  readonly reservedPrefixes: readonly string[];
  /** How many seconds a bundle must have served an anchor before its CA signs. */
  readonly propagationSeconds: number;
  /** Absent: requests are not traced. */
  readonly tracing?: Tracing | undefined;
  /** Absent: the component records nothing in a ledger. */
  readonly recorder?: LedgerRecorder | undefined;
}

/** A running component, as `app` runs it. */
export interface Controller {
  /** Works until `signal` is aborted, finishes what is in flight, then resolves. */
  run(signal: AbortSignal): Promise<void>;
  /** Why it is not ready; empty when it is. */
  notReady(): readonly string[];
  /** Faults that do not stop it: `/readyz` lists them and still answers 200. */
  warnings?(): readonly string[];
  /** Those of them that its Lease reports, for `countersign check`. */
  faults?(): readonly ServingFault[];
  /** The ClusterSigners and Signers that it sees; absent: it has signers of another kind. */
  signers?(): readonly ClusterSigner[];
  /** The permissions that it needs for the signers that it serves now. */
  permissions(): readonly PermissionRule[];
}
