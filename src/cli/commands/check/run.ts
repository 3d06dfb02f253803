// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { CATALOGUE, renderPage, type CheckId } from '../../../checks/catalogue.ts';
import type { Place } from '../../../checks/facts.ts';
import { readInstallation } from '../../../checks/reading/read-installation.ts';
import { missingInstallRights, readKubernetes } from '../../../checks/reading/read-kubernetes.ts';
import { reportOf, reportText, type CheckReport } from '../../../checks/report.ts';
import { runChecks, type Facts } from '../../../checks/run-checks.ts';
import { monotonic } from '../../../app/process.ts';
import { VERSION } from '../../../app/version.ts';
import { usageError } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { EXIT_REFUSED, structuredText, type Output } from '../../../operations/report.ts';
import { printDocument, printMarked, printProgress, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { nextStep } from './next-step.ts';

/** Flags of `countersign check`. */
export interface CheckOptions extends UserOptions, Place {
  readonly pre: boolean;
  /** Seconds. */
  readonly wait?: number;
  readonly explain?: string;
  readonly output: Output;
}

/** How often `--wait` looks again. */
const AGAIN_MS = 2_000;

/**
 * Runs `countersign check`.
 *
 * @returns the exit code: 0 well, 3 a check failed
 * @throws KubeError when the API server does not answer; SignerError USAGE for an unknown id
 */
export async function check(options: CheckOptions): Promise<number> {
  if (options.explain !== undefined) return explain(options.explain);
  const { client } = await connectUser(options, 'check');
  try {
    const { facts, report } = await untilWell(client, options);
    if (options.output === 'text') {
      printMarked(reportText(report) + nextStep(facts, report, options.servingSigner));
    } else printDocument(structuredText(report, options.output));
    return report.result === 'error' ? EXIT_REFUSED : 0;
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
  return (CATALOGUE as ReadonlyMap<string, unknown>).has(id);
}

async function untilWell(
  client: Client,
  options: CheckOptions,
): Promise<{ readonly facts: Facts; readonly report: CheckReport }> {
  const until = monotonic() + (options.wait ?? 0) * 1000;
  let said = '';
  for (;;) {
    const facts = await readFacts(client, options);
    const report = reportOf(runChecks(facts));
    const left = until - monotonic();
    if (report.result !== 'error' || left <= 0) return { facts, report };
    const failing = report.checks.filter(({ severity }) => severity === 'error');
    const text = `waiting: ${[...new Set(failing.map(({ id }) => id))].join(', ')}`;
    if (text !== said) printProgress(text);
    said = text;
    await delay(Math.min(AGAIN_MS, left));
  }
}

async function readFacts(client: Client, options: CheckOptions): Promise<Facts> {
  const { pre, namespace, secretNamespace, servingSigner } = options;
  const place = { namespace, secretNamespace, servingSigner };
  // All at once: on a large cluster the time goes into waiting for the API server.
  const [kubernetes, rest] = await Promise.all([
    readKubernetes(client),
    pre
      ? missingInstallRights(client, namespace).then((mayInstall) => ({ mayInstall }))
      : readInstallation({ client, clock: Date.now, ...place }).then((installed) => ({
          installed,
        })),
  ]);
  return { kubernetes, release: VERSION, ...rest };
}
