// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import { evict } from '../../kube/client/eviction.ts';
import type { Delay } from '../../ports.ts';
import { awaitStop } from '../../operations/await-stop.ts';
import type { FoundPods } from '../../operations/find-pods.ts';
import { giveOrder } from '../../operations/give-order.ts';
import {
  EXIT_LEFT,
  EXIT_REFUSED,
  orderText,
  podsText,
  restartedText,
  type Report,
} from '../../operations/report.ts';
import { restart, type Restarted } from '../../operations/restart.ts';
import { inSession, unlessForbidden, type OrderOptions, type Session } from '../session.ts';
import { authoritiesOf, type Situation } from '../../operations/situation.ts';
import { taint } from '../../operations/taint.ts';

/** Flags of `countersign authority taint`. */
export interface TaintOptions extends OrderOptions {
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
 * Runs `countersign authority taint`: the order first, then the pods.
 *
 * @param fingerprint - or its beginning
 * @returns the exit code
 * @throws KubeError; SignerError USAGE (`wait`) where the CA goes on signing until the timeout
 */
export async function taintAuthority(
  [name, fingerprint]: readonly [name: string, fingerprint: string],
  options: TaintOptions,
): Promise<number> {
  return inSession(name, options, async (session) => {
    const gate = (situation: Situation): ReturnType<typeof taint> => taint(situation, fingerprint);
    const report = await giveOrder({ ...session, ...options, verb: 'taint', gate });
    session.print(orderText(report));
    const { target = '' } = report;
    if (report.outcome === 'refused') {
      session.conclude(report);
      return EXIT_REFUSED;
    }
    return replaceLeaves(session, options, { report, target });
  });
}

interface Given {
  readonly report: Report;
  readonly target: string;
}

async function replaceLeaves(
  session: Session,
  options: TaintOptions,
  { report, target }: Given,
): Promise<number> {
  const stop = new AbortController();
  const interrupted = (): void => {
    stop.abort();
  };
  process.once('SIGINT', interrupted);
  try {
    const deadline = Date.now() + options.timeout * 1000;
    const timing = { clock: Date.now, delay, say: session.say, deadline, signal: stop.signal };
    const situation =
      options.restart && !options.dryRun
        ? await awaitStop({ ...session, ...timing, fingerprint: target })
        : await session.look();
    const pods = await podsOf(session, options, situation, target);
    if (pods !== undefined) session.print(podsText(situation.signer.spec.signerName, pods));
    const restarted =
      options.restart && pods !== undefined
        ? await restart(pods.holding, {
            ...timing,
            perMinute: options.rate,
            once: options.dryRun,
            barePods: options.barePods,
            evict: (pod) => evict(session.client, pod, options.dryRun),
          })
        : undefined;
    return conclude(session, report, { pods, restarted });
  } finally {
    process.removeListener('SIGINT', interrupted);
  }
}

/** Whoever only wants to know is told what he may know; whoever restarts must see all of them. */
async function podsOf(
  session: Session,
  options: TaintOptions,
  situation: Situation,
  target: string,
): Promise<FoundPods | undefined> {
  const authority = authoritiesOf(situation).find((each) => each.fingerprint === target);
  if (authority === undefined) return undefined;
  const looking = session.pods(situation, authority, options.namespace);
  const pods = await (options.restart ? looking : unlessForbidden(looking));
  if (pods === undefined) {
    session.say('you may not list these pods; name namespaces where you may with --namespace');
  }
  return pods;
}

function conclude(
  session: Session,
  report: Report,
  found: { readonly pods: FoundPods | undefined; readonly restarted: Restarted | undefined },
): number {
  const { pods, restarted } = found;
  if (restarted !== undefined) session.print(restartedText(restarted, report.dryRun));
  session.conclude({
    ...report,
    ...(pods === undefined ? {} : { pods }),
    ...(restarted === undefined ? {} : { restarted }),
  } satisfies Report);
  return (restarted?.left.length ?? 0) > 0 ? EXIT_LEFT : 0;
}
