// SPDX-License-Identifier: Apache-2.0
/**
 * Series of metrics as data. Each is declared once, in a table beside the code that counts, and
 * `component/web/metric-registry.ts` exposes it.
 */

/**
 * One series. The values of each label are bounded: a fixed set, names of signers and of objects
 * that an administrator lists, or names that clients choose, up to a limit ({@link Series.limited},
 * `requests/issuing/expiries.ts`).
 */
export interface Series<
  Type extends 'counter' | 'gauge' | 'histogram' = 'counter' | 'gauge' | 'histogram',
  Label extends string = string,
> {
  readonly type: Type;
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
  /** True if the values of a signer are removed when it is no longer served. */
  readonly endsWithSigner?: true;
  /** A label whose values clients choose: after so many, all others are counted as `other`. */
  readonly limited?: { readonly label: Label; readonly to: number };
}

/** Series by the name that code uses. */
export type SeriesTable = Readonly<Record<string, Series>>;

/** Values of labels. */
export type Labels<Label extends string> = Readonly<Record<Label, string>>;

export interface CounterSeries<Label extends string = string> {
  /** Adds `by`, or 1. */
  inc(labels: Labels<Label>, by?: number): void;
}

export interface GaugeSeries<Label extends string = string> {
  set(labels: Labels<Label>, value: number): void;
  remove(labels: Labels<Label>): void;
  /** Removes all values. Without labels the value becomes 0. */
  reset(): void;
}

export interface HistogramSeries<Label extends string = string> {
  observe(labels: Labels<Label>, value: number): void;
}

/** The series of a table, ready to count. */
export type TableSeries<Table extends SeriesTable> = {
  readonly [Key in keyof Table]: Table[Key] extends Series<'counter', infer Label>
    ? CounterSeries<Label>
    : Table[Key] extends Series<'gauge', infer Label>
      ? GaugeSeries<Label>
      : Table[Key] extends Series<'histogram', infer Label>
        ? HistogramSeries<Label>
        : never;
};

/** The metrics of a component. */
export interface SeriesRecorder {
  /** Returns the series of a table. */
  readonly of: <Table extends SeriesTable>(table: Table) => TableSeries<Table>;
  /** Removes the values of a signer name that is no longer served. */
  readonly unserved: (signer: string) => void;
}

/** Declares a counter, whose name ends in `_total`. */
export function counter<Label extends string = never>(
  name: string,
  help: string,
  labels: readonly Label[] = [],
): Series<'counter', Label> {
  return { type: 'counter', name, help, labels };
}

/** Declares a counter with a label whose values clients choose, so that they cannot fill memory. */
export function limitedCounter<Label extends string>(
  name: string,
  help: string,
  labels: readonly Label[],
  limited: { readonly label: Label; readonly to: number },
): Series<'counter', Label> {
  return { type: 'counter', name, help, labels, limited };
}

/** Declares a gauge. */
export function gauge<Label extends string = never>(
  name: string,
  help: string,
  labels: readonly Label[] = [],
): Series<'gauge', Label> {
  return { type: 'gauge', name, help, labels };
}

/** Declares a gauge whose values end with their signer. */
export function signerGauge<Label extends string = 'signer'>(
  name: string,
  help: string,
  labels: readonly (Label | 'signer')[] = ['signer'],
): Series<'gauge', Label | 'signer'> {
  return { type: 'gauge', name, help, labels, endsWithSigner: true };
}

/** Declares a histogram. */
export function histogram<Label extends string>(
  name: string,
  help: string,
  labels: readonly Label[],
  buckets: readonly number[],
): Series<'histogram', Label> {
  return { type: 'histogram', name, help, labels, buckets };
}
