// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import { readRecord, type LedgerRecord } from '#ledger/records/record.ts';
import { BestEffortSender } from '#ledger/sender/best-effort.ts';
import { RequiredSender } from '#ledger/sender/required.ts';
import { LedgerRecorder } from '#requests/recording/recorder.ts';
import { NOW } from '../pki/chain.ts';

/** A ledger in memory, which a test can take away; it reads each record as the real one does. */
export class KeptRecords {
  readonly kept = new Map<string, LedgerRecord>();
  away = false;
  /** Called when a batch is sent. */
  onBatch: () => void = () => undefined;

  readonly send = (
    records: readonly LedgerRecord[],
  ): Promise<readonly (SignerError | undefined)[]> => {
    this.onBatch();
    if (this.away) return Promise.reject(new Error('connection refused'));
    return Promise.resolve(
      records.map((sent) => {
        const record = readRecord(JSON.parse(JSON.stringify(sent)));
        const { key } = record;
        const isOther = JSON.stringify(this.kept.get(key) ?? record) !== JSON.stringify(record);
        this.kept.set(key, this.kept.get(key) ?? record);
        const message = 'another one';
        return isOther
          ? new SignerError({ code: 'LEDGER_CONFLICT', disposition: 'fail', message })
          : undefined;
      }),
    );
  };

  of<K extends LedgerRecord['kind']>(kind: K): readonly Extract<LedgerRecord, { kind: K }>[] {
    type Found = Extract<LedgerRecord, { kind: K }>;
    return [...this.kept.values()].filter((each): each is Found => each.kind === kind);
  }

  /** Results by what they say: `delivered`. */
  results(): readonly string[] {
    return this.of('result').map(({ outcome }) => outcome);
  }

  recorder(mode: 'required' | 'best-effort', name: string, maxWaiting = 100): LedgerRecorder {
    const component = { name, version: '0.1.0', replica: `${name}-0` };
    const parts = {
      send: this.send,
      clock: () => NOW,
      component,
      incarnation: 'one',
      maxWaiting,
      delay: (_milliseconds: number, signal?: AbortSignal) =>
        signal?.aborted === true ? Promise.reject(new Error('ended')) : nextTurn(),
    };
    const after = new BestEffortSender(mode === 'required' ? { ...parts, of: 'results' } : parts);
    const before = mode === 'required' ? new RequiredSender(this.send, parts.delay) : after;
    return new LedgerRecorder({ before, after, clock: () => NOW, component });
  }
}

/** After everything that can go on without I/O has gone on. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
