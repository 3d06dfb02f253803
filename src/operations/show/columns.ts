// SPDX-License-Identifier: Apache-2.0
import { printable } from '../../quote.ts';

const GAP = '   ';
/** Of a column that gives way: a word of most tables. */
const LEAST = 8;

/**
 * One line for each row, its cells under those of the first row: whatever a cell holds, it ends no line.
 *
 * @param width - columns of the terminal: where the table is wider, the widest columns give way, and their cells go on
 *   below; nothing is left out
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

/** Takes from the widest columns, so that the sum is `room`; no column becomes narrower than {@link LEAST}. */
function fitted(natural: readonly number[], room: number): readonly number[] {
  const sum = (most: number): number =>
    natural.reduce((total, each) => total + Math.min(each, most), 0);
  let most = Math.max(...natural, LEAST);
  while (most > LEAST && sum(most) > room) most -= 1;
  const left = Math.max(0, room - sum(most));
  // Columns of the same width share what rounding left over.
  let spare = left === Infinity ? 0 : left;
  return natural.map((each) => {
    if (each <= most || spare === 0) return Math.min(each, most);
    spare -= 1;
    return most + 1;
  });
}

/** The cells side by side; those that are too long go on in the next line. */
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

/** Characters as people see them, and whole what stands for a control character: `\u{1b}`. */
const ESCAPE = /(\\u\{[0-9a-f]+\})/;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function unitsOf(text: string): readonly string[] {
  return text
    .split(ESCAPE)
    .flatMap((part) =>
      ESCAPE.test(part) ? [part] : [...graphemes.segment(part)].map(({ segment }) => segment),
    );
}

/** Breaks behind a blank, a comma or a slash where there is one in the second half of a line. */
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
 * Characters that take two columns: those of East Asia in their full width, and emoji (Unicode Standard Annex #11, §5 and
 * §6); the half-width Katakana and Hangul take one.
 */
const WIDE =
  /(?![\uff61-\uffdc])[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Bopo}\p{sc=Yiii}\p{sc=Tang}\p{Emoji_Presentation}\u3001-\u303e\uff01-\uff60\uffe0-\uffe6]/u;

/** How many columns of a terminal a printable text takes. */
function displayWidth(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : widthOf(unitsOf(text));
}

function widthOf(units: readonly string[]): number {
  return units.reduce(
    (total, unit) => total + (ESCAPE.test(unit) ? unit.length : WIDE.test(unit) ? 2 : 1),
    0,
  );
}
