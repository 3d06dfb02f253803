// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import { evict } from '#kube/client/eviction.ts';
import type { Delay } from '#base/ports.ts';
import { waitUntilStopped } from '#operations/pods/wait-until-stopped.ts';
import type { PodScan } from '#operations/pods/find-pods.ts';
import { applyChange } from '#operations/apply-change.ts';
import {
  EXIT_PODS_LEFT,
  EXIT_REFUSED,
  operationText,
  podsText,
  evictionsText,
  type OperationReport,
} from '#operations/report.ts';
import { evictPods, type EvictionSummary } from '#operations/pods/evict-pods.ts';
import { unlessForbidden } from '#operations/holder-reads.ts';
import { inSession, type ChangeOptions, type Session } from './session.ts';
import { authoritiesOf, type SignerState } from '#operations/signer-state.ts';
import { taint } from '#operations/verbs/taint.ts';

/** Flags of `countersign authority taint`. */
export interface TaintOptions extends ChangeOptions {
  readonly namespace: readonly string[];
  readonly restart: boolean;
  /** Evictions a minute. */
  readonly rate: number;
  /** Seconds. */
  readonly timeout: number;
  readonly barePods: boolean;
}

const delay: Delay = async (milliseconds, signal) => {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
};

/**
 * Runs `countersign authority taint`: requests the rotation, then lists or evicts the affected
 * pods.
 *
 * @param fingerprint - of the CA, or a prefix of it
 * @returns the exit code
 * @throws KubeError of the API server, or SignerError USAGE (`wait`) if the CA still signs at the
 * timeout
 */
export async function taintAuthority(
  [name, fingerprint]: readonly [name: string, fingerprint: string],
  options: TaintOptions,
): Promise<number> {
  return inSession(name, options, async (session) => {
    const plan = (state: SignerState): ReturnType<typeof taint> => taint(state, fingerprint);
    const report = await applyChange({ ...session, ...options, verb: 'taint', plan });
    session.print(operationText(report));
    const { target = '' } = report;
    if (report.outcome === 'refused') {
      session.printStructured(report);
      return EXIT_REFUSED;
    }
    return replaceLeaves(session, options, { report, target });
  });
}

interface TaintTarget {
  readonly report: OperationReport;
  readonly target: string;
}

async function replaceLeaves(
  session: Session,
  options: TaintOptions,
  { report, target }: TaintTarget,
): Promise<number> {
  const stop = new AbortController();
  const interrupted = (): void => {
    stop.abort();
  };
  process.once('SIGINT', interrupted);
  try {
    const deadline = Date.now() + options.timeout * 1000;
    const timing = {
      clock: Date.now,
      delay,
      progress: session.progress,
      deadline,
      signal: stop.signal,
    };
    const state =
      options.restart && !options.dryRun
        ? await waitUntilStopped({ ...session, ...timing, fingerprint: target })
        : await session.readState();
    const pods = await podsOf(session, options, state, target);
    if (pods !== undefined) session.print(podsText(state.signer.spec.signerName, pods));
    const restarted =
      options.restart && pods !== undefined
        ? await evictPods(pods.affected, {
            ...timing,
            perMinute: options.rate,
            dryRun: options.dryRun,
            barePods: options.barePods,
            evict: (pod) => evict(session.client, pod, options.dryRun),
          })
        : undefined;
    return finish(session, report, { pods, restarted });
  } finally {
    process.removeListener('SIGINT', interrupted);
  }
}

/**
 * Returns the affected pods. Without `--restart`, returns undefined if the user may not list them.
 * With it, that is an error.
 */
async function podsOf(
  session: Session,
  options: TaintOptions,
  state: SignerState,
  target: string,
): Promise<PodScan | undefined> {
  const authority = authoritiesOf(state).find((each) => each.fingerprint === target);
  if (authority === undefined) return undefined;
  const looking = session.pods(state, authority, options.namespace);
  const pods = await (options.restart ? looking : unlessForbidden(looking));
  if (pods === undefined) {
    session.progress(
      'you may not list these pods; with --namespace, name the namespaces in which you may',
    );
  }
  return pods;
}

function finish(
  session: Session,
  report: OperationReport,
  found: { readonly pods: PodScan | undefined; readonly restarted: EvictionSummary | undefined },
): number {
  const { pods, restarted } = found;
  if (restarted !== undefined) session.print(evictionsText(restarted, report.dryRun));
  session.printStructured({
    ...report,
    ...(pods === undefined ? {} : { pods }),
    ...(restarted === undefined ? {} : { restarted }),
  } satisfies OperationReport);
  return (restarted?.left.length ?? 0) > 0 ? EXIT_PODS_LEFT : 0;
}
