// SPDX-License-Identifier: Apache-2.0
import { printable } from '#base/quote.ts';

const GAP = '   ';
/** Least width of a narrowed column: a word of most tables. */
const LEAST = 8;

/**
 * Formats one line for each row, with its cells under those of the first row. Cells cannot break
 * lines, because control characters are escaped.
 * @param width - columns of the terminal. If the table is wider, the widest columns are narrowed
 * and their cells continue on the next line, without loss.
 */
export function columns(
  table: readonly (readonly string[])[],
  width = Infinity,
): readonly string[] {
  const rows = table.map((row) => row.map(printable));
  const [titles = []] = rows;
  const natural = titles.map((_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
  const widths = fitted(natural, width - GAP.length * (natural.length - 1));
  return rows.flatMap((row) => linesOf(row, widths));
}

/**
 * Narrows the widest columns, so that the sum is `room`. No column becomes narrower than
 * {@link LEAST}.
 */
function fitted(natural: readonly number[], room: number): readonly number[] {
  const sum = (most: number): number =>
    natural.reduce((total, each) => total + Math.min(each, most), 0);
  let most = Math.max(...natural, LEAST);
  while (most > LEAST && sum(most) > room) most -= 1;
  const left = Math.max(0, room - sum(most));
  // Columns of the same width share the remainder of rounding.
  let spare = left === Infinity ? 0 : left;
  return natural.map((each) => {
    if (each <= most || spare === 0) return Math.min(each, most);
    spare -= 1;
    return most + 1;
  });
}

/** Places the cells side by side. Cells that are too long continue on the next line. */
function linesOf(row: readonly string[], widths: readonly number[]): readonly string[] {
  const cells = row.map((cell, column) => wrapped(cell, widths[column] ?? 0));
  const height = Math.max(1, ...cells.map((each) => each.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((cell, column) => padded(cell[line] ?? '', widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** Matches an escaped control character such as `\u{1b}`, which must stay whole like a grapheme. */
const ESCAPE = /(\\u\{[0-9a-f]+\})/;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function unitsOf(text: string): readonly string[] {
  return text
    .split(ESCAPE)
    .flatMap((part) =>
      ESCAPE.test(part) ? [part] : [...graphemes.segment(part)].map(({ segment }) => segment),
    );
}

/** Wraps a text after a blank, a comma or a slash in the second half of a line, if there is one. */
function wrapped(text: string, width: number): readonly string[] {
  if (displayWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line: string[] = [];
  for (const unit of unitsOf(text)) {
    if (line.length > 0 && widthOf(line) + displayWidth(unit) > width) {
      const at = line.findLastIndex((each) => [' ', ',', '/'].includes(each)) + 1;
      const end = at > line.length / 2 ? at : line.length;
      lines.push(line.slice(0, end).join('').trimEnd());
      line = line.slice(end);
    }
    line.push(unit);
  }
  return [...lines, line.join('')];
}

/**
 * Characters that take two columns: those of East Asia in their full width, and emoji (Unicode
 * Standard Annex #11, §5 and §6). The half-width Katakana and Hangul take one.
 */
const WIDE =
  /(?![\uff61-\uffdc])[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Bopo}\p{sc=Yiii}\p{sc=Tang}\p{Emoji_Presentation}\u3001-\u303e\uff01-\uff60\uffe0-\uffe6]/u;

/** Returns the number of terminal columns of a printable text. */
function displayWidth(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : widthOf(unitsOf(text));
}

function widthOf(units: readonly string[]): number {
  return units.reduce(
    (total, unit) => total + (ESCAPE.test(unit) ? unit.length : WIDE.test(unit) ? 2 : 1),
    0,
  );
}
