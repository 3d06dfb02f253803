// SPDX-License-Identifier: Apache-2.0
import { headingOf } from './columns.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A bench's figures as Markdown, whatever they are: single values in one line, objects of values as
 * the rows of a table, objects of objects under a heading of their own. What is words is in the
 * notes.
 */
export function figuresText(figures: Fields, level: number): string {
  const entries = Object.entries(figures);
  const single = entries.filter(([, value]) => typeof value === 'number');
  const rows = entries.filter(([, value]) => isObjectOf(value, 'number'));
  const deeper = entries.filter(([, value]) => isObjectOf(value, 'object'));
  return [
    single.length === 0 ? '' : `Run with ${single.map(oneValue).join(', ')}.`,
    rows.length === 0 ? '' : table(rows as [string, Fields][]),
    ...deeper.map(
      ([name, value]) =>
        `${'#'.repeat(level)} ${name}\n\n${figuresText(value as Fields, level + 1)}`,
    ),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** 12345.6 → 12,345.6 */
export function shown(value: unknown): string {
  if (typeof value !== 'number') return '';
  return value.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}

function oneValue([name, value]: [string, unknown]): string {
  return `${headingOf(name)} ${shown(value)}`;
}

function isObjectOf(value: unknown, type: 'number' | 'object'): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const all = Object.values(value);
  return all.length > 0 && all.every((each) => typeof each === type);
}

function table(rows: readonly (readonly [string, Fields])[]): string {
  const columns = [...new Set(rows.flatMap(([, fields]) => Object.keys(fields)))];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(['', ...columns.map(headingOf)]),
    line(['---', ...columns.map(() => '--:')]),
    ...rows.map(([name, fields]) =>
      line([`\`${name}\``, ...columns.map((column) => shown(fields[column]))]),
    ),
  ].join('\n');
}
