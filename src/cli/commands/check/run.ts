// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { CATALOGUE, renderPage, type CheckId } from '#diagnose/check/catalogue.ts';
import type { Place } from '#diagnose/check/facts.ts';
import { readInstallation } from '#diagnose/check/reading/read-installation.ts';
import {
  missingInstallRights,
  readKubernetes,
  readLedgerNeeds,
} from '#diagnose/check/reading/read-kubernetes.ts';
import {
  failsFrom,
  openFindings,
  reportOf,
  reportText,
  type CheckReport,
} from '#diagnose/check/report.ts';
import { runChecks, type Facts } from '#diagnose/check/run-checks.ts';
import { monotonic } from '#app/process.ts';
import { VERSION } from '#app/version.ts';
import { usageError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError, transientError } from '#kube/client/kube-error.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printDocument, printMarked, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { nextStep } from './next-step.ts';

/** Flags of `countersign check`. */
export interface CheckOptions extends UserOptions, Place {
  readonly pre: boolean;
  /** Seconds. */
  readonly propagation: number;
  /** Seconds. */
  readonly wait?: number;
  readonly explain?: string;
  /** The least severity that fails. */
  readonly failOn: 'warning' | 'error';
  readonly output: Output;
}

/** Interval of checks with `--wait`. */
const AGAIN_MS = 2_000;

/**
 * Runs `countersign check`.
 *
 * @returns the exit code: 0 after success, 3 if a check failed, or warned with `--fail-on=warning`
 * @throws KubeError if the API server does not answer, or SignerError USAGE for an unknown id
 */
export async function check(options: CheckOptions): Promise<number> {
  if (options.explain !== undefined) return explain(options.explain);
  const { client } = await connectUser(options, 'check');
  try {
    const { facts, report } = await untilWell(client, options);
    if (options.output === 'text') {
      printMarked(reportText(report) + nextStep(facts, report, options.servingSigner));
    } else printDocument(structuredText(report, options.output));
    return failsFrom(report, options.failOn) ? EXIT_REFUSED : 0;
  } finally {
    await client.close();
  }
}

function explain(id: string): number {
  if (!isCheck(id)) {
    throw usageError(`there is no check ${id}; the checks are ${[...CATALOGUE.keys()].join(', ')}`);
  }
  printText(renderPage(id));
  return 0;
}

function isCheck(id: string): id is CheckId {
  const ids: Iterable<string> = CATALOGUE.keys();
  return [...ids].includes(id);
}

async function untilWell(
  client: Client,
  options: CheckOptions,
): Promise<{ readonly facts: Facts; readonly report: CheckReport }> {
  const until = monotonic() + (options.wait ?? 0) * 1000;
  let said = '';
  for (;;) {
    const facts = await readFacts(client, options).catch(transientError);
    const left = until - monotonic();
    let open: readonly string[];
    if (facts instanceof KubeError) {
      if (left <= 0) throw facts;
      open = [facts.message];
    } else {
      const report = reportOf(runChecks(facts));
      open = openFindings(report, options.failOn).map(({ id }) => id);
      if (open.length === 0 || left <= 0) return { facts, report };
    }
    const text = `waiting: ${[...new Set(open)].join(', ')}`;
    if (text !== said) printProgress(text);
    said = text;
    await delay(Math.min(AGAIN_MS, left));
  }
}

async function readBeforeInstalling(
  client: Client,
  namespace: string,
): Promise<Pick<Facts, 'mayInstall' | 'ledger'>> {
  const [mayInstall, ledger] = await Promise.all([
    missingInstallRights(client, namespace),
    readLedgerNeeds(client),
  ]);
  return { mayInstall, ledger };
}

async function readFacts(client: Client, options: CheckOptions): Promise<Facts> {
  const { pre, propagation, namespace, secretNamespace, servingSigner } = options;
  const place = { namespace, secretNamespace, servingSigner };
  const init = { client, clock: Date.now, propagationSeconds: propagation, ...place };
  // Read concurrently: on a large cluster most time is spent on waiting for the API server.
  const [kubernetes, rest] = await Promise.all([
    readKubernetes(client),
    pre
      ? readBeforeInstalling(client, namespace)
      : readInstallation(init).then((installed) => ({ installed })),
  ]);
  return { kubernetes, release: VERSION, ...rest };
}
