// SPDX-License-Identifier: Apache-2.0
import { SINGLE_REPLICA } from '#kube/lease/shard-filter.ts';
import type { EventDetails } from '#kube/events/body.ts';
import type { SeriesTable } from '#component/metric.ts';
import type { RecordingComponent } from '#requests/recording/recorder.ts';
import { NOW, random } from '../ca/issuing.ts';
import { recordedClient, type RecordedClient } from '../kube/recorded-client.ts';
import { recordedLog, type LogLine } from './recorded-log.ts';

/** A component whose every word can be read. */
export interface RecordedComponent extends RecordingComponent {
  readonly client: RecordedClient;
  readonly log: RecordingComponent['log'] & { readonly lines: readonly LogLine[] };
  /** Events that were told. */
  readonly notes: readonly EventDetails[];
  /** The metric and what it was given: of a series its labels and the value. */
  readonly counted: readonly (readonly unknown[])[];
}

/** The series of a table, which count under their names in it. What is removed is not recorded. */
function recordedSeries(
  table: SeriesTable,
  count: (name: string) => (...given: readonly unknown[]) => void,
): object {
  const ignore = (): void => undefined;
  return Object.fromEntries(
    Object.keys(table).map((key) => [
      key,
      { inc: count(key), set: count(key), observe: count(key), remove: ignore, reset: ignore },
    ]),
  );
}

/** Its clock stands still; `more` replaces parts. */
export function recordedComponent(more: Partial<RecordingComponent> = {}): RecordedComponent {
  const notes: EventDetails[] = [];
  const counted: (readonly unknown[])[] = [];
  const count =
    (name: string) =>
    (...given: readonly unknown[]): void => {
      counted.push([name, ...given]);
    };
  const component = {
    name: 'signer',
    client: recordedClient(),
    clock: () => NOW,
    monotonic: () => NOW,
    random,
    serving: { report: () => undefined, retract: () => undefined },
    log: recordedLog(),
    events: {
      record: (note: EventDetails) => notes.push(note),
      recordOnce: (note: EventDetails) => Promise.resolve(void notes.push(note)),
      flush: () => Promise.resolve(),
    },
    metrics: {
      watchRestart: count('watchRestart'),
      watchEvent: () => undefined,
      watchStopped: () => undefined,
      worked: count('worked'),
      retried: count('retried'),
      unserved: count('unserved'),
      of: (table: SeriesTable) => recordedSeries(table, count),
    },
    queue: { charge: () => undefined },
    concurrency: { lend: (work: () => Promise<unknown>) => work() },
    shard: SINGLE_REPLICA,
    leases: undefined,
    secretNamespace: 'countersign-keys',
    namespacedSigners: false,
    missingPermissions: () => Promise.resolve([]),
    reservedPrefixes: [],
    propagationSeconds: 600,
    ...more,
  };
  return { ...component, notes, counted } as unknown as RecordedComponent;
}
