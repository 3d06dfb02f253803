// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { clock, delay, monotonic, random } from '#app/process.ts';
import { VERSION } from '#app/version.ts';
import { ASSETS } from '#console/assets.ts';
import { startConsole } from '#console/start-console.ts';
import type { ConsoleInit } from '#console/readings.ts';
import type { Place } from '#diagnose/check/facts.ts';
import type { Client } from '#kube/client/client.ts';
import { liveRequests } from '#operations/revoking/find-certificates.ts';
import { recordedCertificates, recordedOrElse } from '#cli/sources/issued-certificates.ts';
import { printProgress, printText } from '#cli/terminal.ts';
import { DEFAULT_REFRESH_FLAGS } from '#workloads/refresh/flags.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { createRulesEngine } from './rules-engine.ts';
import { isOfOtherUser } from './own-user.ts';

/** Flags of `countersign console`. */
export interface ConsoleOptions extends UserOptions, Place {
  readonly port?: number;
  readonly open: boolean;
  readonly allowChanges: boolean;
  /** Seconds. */
  readonly propagation: number;
}

/** Records of one search: more are no answer for a person, and would fill the memory. */
const MAX_SEARCHED = 5_000;

/**
 * Runs `countersign console` until its session ends, or a signal.
 *
 * @throws SignerError USAGE for a port in use, KUBE_CONFIG for an unusable kubeconfig
 */
export async function runConsole(options: ConsoleOptions): Promise<void> {
  const { client } = await connectUser(options, 'console');
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      stop.abort();
    });
  }
  try {
    const init = { ...initOf(client, options), assets: ASSETS, isOfOtherUser };
    const { address, ended } = await startConsole(init, options.port ?? 0, stop.signal);
    printText(`${address}\n`);
    printProgress('The address works once. Ctrl-C ends the console.');
    if (options.open) openBrowser(address);
    await ended;
    if (!stop.signal.aborted) printProgress('The session has ended.');
  } finally {
    await client.close();
  }
}

function initOf(client: Client, options: ConsoleOptions): ConsoleInit {
  const { namespace, secretNamespace, servingSigner, allowChanges, propagation } = options;
  const live = liveRequests(client);
  return {
    client,
    namespace,
    secretNamespace,
    servingSigner,
    clock,
    monotonic,
    delay,
    random,
    release: VERSION,
    propagationSeconds: propagation,
    canAct: allowChanges,
    planRestarts: async () => {
      const { planRestarts } = await import('../refresh/run.ts');
      return planRestarts(client, DEFAULT_REFRESH_FLAGS);
    },
    // A slash: no namespace of the cluster has this name, so no Signer shares its budget.
    rules: createRulesEngine({ client, delay, budget: 'console/session' }),
    searchIssued: ({ serial, ...query }, signers) => {
      const serials = serial === undefined ? undefined : [serial];
      const recorded = recordedCertificates(client, { ...query, serials, limit: MAX_SEARCHED });
      return recordedOrElse(recorded, live, signers);
    },
  };
}

/** Programs that open an address, by platform. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};

/**
 * Opens the browser. The address is printed as well, so a failure needs no message. All users can
 * read the arguments of the process, so `isOfOtherUser` guards the console.
 */
function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}
