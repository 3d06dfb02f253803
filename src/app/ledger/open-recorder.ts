// SPDX-License-Identifier: Apache-2.0
/** Connects a component that records in the ledger, as configured by its flags. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { BestEffortSender } from '#ledger/sender/best-effort.ts';
import type { SenderState } from '#ledger/sender/contract.ts';
import { createHttpsSender } from '#ledger/sender/https.ts';
import { addressOf } from '#ledger/sender/ledger-address.ts';
import { RequiredSender } from '#ledger/sender/required.ts';
import { SENDER_SERIES } from '#ledger/sender/metrics.ts';
import { batchSends } from '#ledger/sender/batched-sender.ts';
import type { ServingFault } from '#api/serving/report.ts';
import type { Log } from '#base/ports.ts';
import { LedgerRecorder } from '#requests/recording/recorder.ts';
import type { Metrics } from '#component/web/metric-registry.ts';
import { clock, delay, monotonic } from '../process.ts';
import { VERSION } from '../version.ts';
import { createLedgerFaults } from './ledger-faults.ts';
import { ledgerUrlOf, waitsForLedger, type LedgerOptions } from './options.ts';

/** A recorder, its warnings for /readyz, and the function that ends it. */
export interface OpenRecorder {
  readonly recorder: LedgerRecorder | undefined;
  readonly warnings: () => readonly string[];
  /** Returns the faults for the report in the Lease. */
  readonly faults: () => readonly ServingFault[];
  /** Sends waiting records, for a few seconds at most, and logs lost ones. */
  readonly close: () => Promise<void>;
}

/** Timeout of the last flush. A pod has 30 seconds to end (terminationGracePeriodSeconds). */
const FLUSH_MILLISECONDS = 10_000;

const OFF: OpenRecorder = {
  recorder: undefined,
  warnings: () => [],
  faults: () => [],
  close: () => Promise.resolve(),
};

/**
 * Opens the recorder of a component, which records nothing without a ledger in the options.
 *
 * @param name - the subcommand
 * @throws SignerError USAGE for flags that contradict each other
 */
export function openRecorder(
  name: string,
  options: LedgerOptions,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): OpenRecorder {
  const url = ledgerUrlOf(options);
  if (url === undefined) return OFF;
  const { ledgerWaiting = 1 } = options;
  const { send, close } = createHttpsSender(addressOf(url, options, monotonic));
  const component = { name, version: VERSION, replica: hostname() };
  const incarnation = randomBytes(8).toString('hex');
  // A required ledger has each record before the answer. The spool then sends only results.
  const isRequired = waitsForLedger(name, options);
  const { sendNow, sendAlong, onAnswer } = batchSends(send, delay);
  const spool = new BestEffortSender({
    send: isRequired ? sendAlong : send,
    delay,
    clock,
    component,
    incarnation,
    maxWaiting: ledgerWaiting,
    ...(isRequired ? { of: 'results' } : {}),
  });
  onAnswer(() => {
    spool.retryNow();
  });
  const before = isRequired ? new RequiredSender(sendNow, delay) : spool;
  const recorder = new LedgerRecorder({ before, after: spool, clock, component });
  measure(metrics, recorder);
  log.info({ mode: recorder.state.mode, ledger: url.origin }, 'records in the ledger');
  return {
    recorder,
    warnings: () => warningsOf(recorder.state),
    faults: createLedgerFaults(() => recorder.state, clock),
    close: async () => {
      await spool.flush(AbortSignal.timeout(FLUSH_MILLISECONDS));
      await Promise.all([before.close(), spool.close()]);
      close();
      const { lost } = recorder.state;
      if (lost > 0) log.error({ lost }, 'records are lost: the ledger could not be reached');
    },
  };
}

function measure(metrics: Metrics, recorder: LedgerRecorder): void {
  const series = metrics.of(SENDER_SERIES);
  metrics.onScrape(() => {
    const { waiting, lost, failing, mode } = recorder.state;
    series.waiting.set({}, waiting);
    series.lost.set({}, lost);
    series.failing.set({ mode }, Number(failing));
  });
}

function warningsOf({ mode, waiting, lost, failing }: SenderState): readonly string[] {
  const away =
    mode === 'required'
      ? 'the ledger cannot be reached: no request is answered until it can (--ledger-mode=required)'
      : `the ledger cannot be reached: ${waiting} records wait in memory (--ledger-mode=best-effort)`;
  return [
    ...(failing ? [away] : []),
    ...(lost > 0 ? [`${lost} records of this process did not reach the ledger`] : []),
  ];
}
