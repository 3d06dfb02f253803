// SPDX-License-Identifier: Apache-2.0
import { Command } from 'commander';
import { addComponentOptions, type ComponentOptions } from '#app/component-options.ts';
import { usageError } from '#base/errors.ts';
import type { LibraryInit } from './controller.ts';
import * as messages from './messages.ts';

/** Options of `run`. In a cluster the defaults are enough. */
export interface RunOptions {
  /** A kubeconfig file. Default: KUBECONFIG, then ~/.kube/config, then the pod's ServiceAccount. */
  readonly kubeconfig?: string;
  /** Context of the kubeconfig. Default: its current-context. */
  readonly context?: string;
  /** Namespace of the Secrets of cluster-scoped issuers. Default: `countersign-keys`. */
  readonly secretNamespace?: string;
  /**
   * `host:port` of /healthz, /readyz, and /metrics. Port 0 uses a free port, which the log names.
   */
  readonly listen?: string;
  /** Format of the log lines on stderr. */
  readonly logFormat?: 'json' | 'pretty';
  /** Lowest level that is logged. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /**
   * Namespace of the Leases that divide the work among replicas. Default: the pod's namespace, and
   * no Leases outside a cluster.
   */
  readonly leaseNamespace?: string;
  /** Prefixes that no name in a leaf may have, in addition to `system:` and `kubeadm:`. */
  readonly reservedPrefixes?: readonly string[];
  /**
   * Seconds after its creation during which a CertificateSigningRequest is retried after an
   * ordinary error. Then it is Failed with the last message. Default: 600. PodCertificateRequests
   * never fail for this reason.
   */
  readonly maxRetrySeconds?: number;
  /**
   * Limit in seconds on one call of `check` or `sign`. A longer call counts as an ordinary error.
   * Default: 60.
   */
  readonly callSeconds?: number;
  /** Stops the work as SIGTERM does, after calls in flight have finished. */
  readonly signal?: AbortSignal;
}

/**
 * Well before kube-controller-manager deletes an approved request without a certificate (one hour).
 */
const DEFAULT_MAX_RETRY_SECONDS = 600;
/** Default of the API server's own --request-timeout. */
const DEFAULT_CALL_SECONDS = 60;

/** Limits in milliseconds. */
type Limits = Pick<LibraryInit<unknown>, 'maxRetryMs' | 'callMs'>;

/**
 * Returns the limits. A number that an author reads from an unset variable is NaN, and no time
 * exceeds it.
 *
 * @throws SignerError USAGE (`fail`)
 */
export function limitsOf({
  maxRetrySeconds = DEFAULT_MAX_RETRY_SECONDS,
  callSeconds = DEFAULT_CALL_SECONDS,
}: RunOptions): Limits {
  if (!(callSeconds > 0 && callSeconds < Infinity)) {
    throw usageError(messages.invalidLimit('callSeconds', callSeconds, 'above 0'));
  }
  if (!(maxRetrySeconds >= 0)) {
    throw usageError(messages.invalidLimit('maxRetrySeconds', maxRetrySeconds, 'from 0'));
  }
  return { maxRetryMs: maxRetrySeconds * 1000, callMs: callSeconds * 1000 };
}

/** Returns the options. Defaults are those of the flags of our own components. */
export function componentOptions(options: RunOptions): ComponentOptions {
  const defaults = addComponentOptions(new Command()).parse([], { from: 'user' });
  const { maxRetrySeconds: _retry, callSeconds: _call, signal: _signal, ...given } = options;
  const { reservedPrefixes = [], ...flags } = given;
  // An author may pass undefined for an option, such as a variable that is not set.
  const set = Object.entries<unknown>(flags).filter(([, value]) => value !== undefined);
  return Object.assign(defaults.opts<ComponentOptions>(), Object.fromEntries(set), {
    reservedPrefix: reservedPrefixes,
  });
}
