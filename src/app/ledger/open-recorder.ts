// SPDX-License-Identifier: Apache-2.0
/** Connects a component with the ledger, as its flags say. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { BestEffortSender } from '../../ledger/sender/best-effort.ts';
import type { SenderState } from '../../ledger/sender/contract.ts';
import { createHttpsSender } from '../../ledger/sender/https.ts';
import { RequiredSender } from '../../ledger/sender/required.ts';
import { sendTogether } from '../../ledger/sender/together.ts';
import type { ServingFault } from '../../api/serving/report.ts';
import type { Log } from '../../ports.ts';
import { LedgerRecorder } from '../../runtime/recording/recorder.ts';
import type { Metrics } from '../../web/metrics.ts';
import { clock, delay, monotonic } from '../process.ts';
import { VERSION } from '../version.ts';
import { createLedgerFaults } from './ledger-faults.ts';
import { ledgerUrlOf, waitsForLedger, type LedgerOptions } from './options.ts';
import { readAgain } from './read-again.ts';

/** A recorder, what /readyz says of it, and its end. */
export interface OpenRecorder {
  readonly recorder: LedgerRecorder | undefined;
  readonly warnings: () => readonly string[];
  /** What the report in its Lease says of the ledger. */
  readonly faults: () => readonly ServingFault[];
  /** Sends what waits, for some seconds at most, and logs what is lost. */
  readonly close: () => Promise<void>;
}

/** A pod has 30 seconds to end (terminationGracePeriodSeconds). */
const FLUSH_MILLISECONDS = 10_000;

const OFF: OpenRecorder = {
  recorder: undefined,
  warnings: () => [],
  faults: () => [],
  close: () => Promise.resolve(),
};

/**
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
  const { ledgerToken = '', ledgerCa = '', ledgerName, ledgerWaiting = 1 } = options;
  const { send, close } = createHttpsSender({
    url,
    readToken: readAgain(ledgerToken, monotonic),
    readCa: readAgain(ledgerCa, monotonic),
    serverName: ledgerName,
  });
  const component = { name, version: VERSION, replica: hostname() };
  const incarnation = randomBytes(8).toString('hex');
  const isRequired = waitsForLedger(name, options);
  const { now, along } = sendTogether(send, delay);
  const spool = new BestEffortSender({
    ...{
      send: isRequired ? along : send,
      delay,
      clock,
      component,
      incarnation,
      mostWaiting: ledgerWaiting,
    },
    ...(isRequired ? { of: 'results' } : {}),
  });
  const before = isRequired ? new RequiredSender(now, delay) : spool;
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
  metrics.onScrape(() => {
    const { waiting, lost, failing, mode } = recorder.state;
    metrics.ledgerWaiting.set(waiting);
    metrics.ledgerLost.set(lost);
    metrics.ledgerFailing.set({ mode }, Number(failing));
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
