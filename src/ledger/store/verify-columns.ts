// SPDX-License-Identifier: Apache-2.0
/** Compares the index columns of records and notes with their contents. */
import { LATEST_SCHEMA } from '../database/migrations.ts';
import { REMOVALS, removalRows, TERMS, termRows } from '../database/tables.ts';
import { numberOf } from '../database/database.ts';
import { placeOf } from '../records/ids.ts';
import type { RecordBody } from '../records/record.ts';
import { findable } from '../records/terms.ts';
import type { Findings } from './findings.ts';
import type { StoredLog } from './logs.ts';
import type { CheckedTable, RowSource, SourceRecord } from './source.ts';
import { keysOf } from '#base/object-keys.ts';

/** Pseudo-log of findings that concern no log. */
const DATABASE = { origin: 'the database' };

/** Expected number of rows, by table. */
type Counts = Record<CheckedTable, number>;

/** One check of a database. */
export class ColumnChecks {
  readonly #rows: RowSource;
  readonly #findings: Findings;
  readonly #counts: Counts = { records: 0, tiles: 0, checkpoints: 0, terms: 0, removals: 0 };
  /** Terms that the records of one tile must have. */
  #terms: (readonly (string | number)[])[] = [];
  /** The last checked record. */
  #last: { readonly id: number; readonly at: number } | undefined;

  constructor(rows: RowSource, findings: Findings) {
    this.#rows = rows;
    this.#findings = findings;
  }

  /**
   * Compares the schema. Returns false if this program does not know the tables, and the check
   * compares no more of them.
   */
  async schema(): Promise<boolean> {
    const steps = await this.#rows.schema();
    const isLatest =
      steps.length === LATEST_SCHEMA && steps.every((number, at) => number === at + 1);
    if (isLatest) return true;
    this.#findings.add(
      'column',
      DATABASE,
      `migrations.number has ${steps.join(', ') || 'nothing'}, and this program knows the schema ${LATEST_SCHEMA}`,
    );
    return false;
  }

  /** Adds to the expected number of rows. */
  counted(table: CheckedTable, rows: number): void {
    this.#counts[table] += rows;
  }

  /** Compares the columns of a record whose bytes its entry has proven. */
  async record(
    log: StoredLog,
    { id, key, kind, columns }: SourceRecord,
    { appended, record }: RecordBody,
  ): Promise<void> {
    const { index } = placeOf(id);
    const { terms, notAfter } = findable(record);
    const at = Date.parse(appended.at);
    const compared = [
      ['record_key', key === record.key],
      ['kind', kind === record.kind],
      ['at', columns?.at === at],
      ['not_after', columns?.notAfter === (notAfter ?? null)],
    ] as const;
    for (const [name, isSame] of compared) {
      if (!isSame)
        this.#add(log, `records.${name} of the record ${index} does not match its contents`);
    }
    this.#last = { id, at };
    this.#terms.push(...termRows(id, terms));
    if (record.kind !== 'erased') return;
    const rows = removalRows(id, record);
    this.counted('removals', rows.length);
    for (const row of await this.#rows.absent(REMOVALS, rows)) {
      const [of, first] = [numberOf(row, 'log'), numberOf(row, 'first')];
      this.#add(log, `removals has no row for ${of}-${first} of the record ${index}`);
    }
  }

  /** Compares the collected terms of a tile's records in one query. */
  async flush(log: StoredLog): Promise<void> {
    const rows = this.#terms;
    this.#terms = [];
    this.counted('terms', rows.length);
    for (const row of await this.#rows.absent(TERMS, rows)) {
      const [index, kind] = [placeOf(numberOf(row, 'id')).index, numberOf(row, 'kind')];
      this.#add(log, `terms has no row of kind ${kind} by which the record ${index} is found`);
    }
  }

  /** Compares the time that the log stores with that of its last record. It never decreases. */
  log(log: StoredLog): void {
    const last = this.#last;
    if (last === undefined || placeOf(last.id).log !== log.number) return;
    const isLast = placeOf(last.id).index === log.size - 1;
    if (isLast ? log.latest === last.at : log.latest >= last.at) return;
    this.#add(log, 'logs.latest is not the time of its last record');
  }

  /** Compares the sizes of checkpoints with their notes. */
  async checkpoints(log: StoredLog, sizes: readonly (number | undefined)[]): Promise<void> {
    const kept = await this.#rows.sizes(log.number);
    this.counted('checkpoints', kept.length);
    for (const [at, size] of kept.entries()) {
      if (sizes[at] === undefined || sizes[at] === size) continue;
      this.#add(log, `checkpoints.size is ${size} and the note has ${sizes[at]}`);
    }
  }

  /** Finds, at the end, rows that belong to no log and no record. */
  async surplus(): Promise<void> {
    for (const table of keysOf(this.#counts)) {
      const expected = this.#counts[table];
      const count = await this.#rows.count(table);
      if (count === expected) continue;
      const message = `${table} has ${count} rows, and the logs and records make ${expected}`;
      this.#findings.add('column', DATABASE, message);
    }
  }

  #add(log: StoredLog, message: string): void {
    this.#findings.add('column', log, message);
  }
}
