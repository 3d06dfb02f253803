// SPDX-License-Identifier: Apache-2.0
/** Finds rows that a table lacks. */
import type { Sql, SqlColumns, SqlRow, SqlValue } from './database.ts';

/**
 * Rows of one statement. Every part is filled to this number, so that a database prepares one
 * statement.
 */
const TOGETHER = 500;

/** Returns the rows that the table lacks. It searches by an index of the columns. */
export async function absentRows(
  sql: Sql,
  { table, names }: SqlColumns,
  rows: readonly (readonly (string | number)[])[],
): Promise<readonly SqlRow[]> {
  const absent: SqlRow[] = [];
  for (let at = 0; at < rows.length; at += TOGETHER) {
    const part = rows.slice(at, at + TOGETHER);
    const last = part.at(-1) ?? [];
    const whole = [...part, ...Array<typeof last>(TOGETHER - part.length).fill(last)];
    const row = `(${last.map(placeOf).join(', ')})`;
    const same = names.map((name) => `t.${name} = e.${name}`).join(' AND ');
    const query = `WITH e (${names.join(', ')}) AS (VALUES ${whole.map(() => row).join(', ')})
      SELECT DISTINCT e.* FROM e WHERE NOT EXISTS (SELECT 1 FROM ${table} t WHERE ${same})`;
    absent.push(...(await sql.all(query, whole.flat() satisfies readonly SqlValue[])));
  }
  return absent;
}

function placeOf(value: string | number): string {
  return `CAST(? AS ${typeof value === 'number' ? 'BIGINT' : 'TEXT'})`;
}
