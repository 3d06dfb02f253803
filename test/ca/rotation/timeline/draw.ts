// SPDX-License-Identifier: Apache-2.0
import type { AuthorityPhase } from '#api/signer/cluster-signer.ts';
import { DAY, MINUTE } from '../simulation/scenario.ts';
import { DAYS, type Life, type Span } from './record.ts';

const WIDTH = 860;
const LEFT = 60;
const RIGHT = 20;
const ROW = 66;
const BAR = 20;
const FILL: Readonly<Record<AuthorityPhase, string>> = {
  Prepared: '#e0b13c',
  Active: '#2f7d4f',
  Retiring: '#8aa8c4',
  Distrusted: '#b4442f',
};
const INK = '#222222';
/** How long before the second CA is made the closer look begins, and how long it is. */
const LEAD_MS = 2 * MINUTE;
const CLOSE_MS = 18 * MINUTE;

/** One stretch of time, drawn from `top` downwards. */
interface Panel {
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly title: string;
  readonly tick: number;
  readonly label: (time: number) => string;
}

/** Two pictures of the same run: two months of it, and the minutes of one handover. */
export function draw(lives: readonly Life[]): string {
  const second = lives[1]?.phases[0]?.span.from ?? 0;
  const whole: Panel = {
    from: 0,
    to: DAYS * DAY,
    top: 30,
    title: `${DAYS} days: CAs of 30 days, leaves of 7 days`,
    tick: 10 * DAY,
    label: (time) => `day ${time / DAY}`,
  };
  const start = Math.floor(second / MINUTE) * MINUTE;
  const close: Panel = {
    from: start - LEAD_MS,
    to: start - LEAD_MS + CLOSE_MS,
    top: whole.top + heightOf(lives.length) + 40,
    title: 'the handover from A to B, in minutes',
    tick: 2 * MINUTE,
    label: (time) => `${(time - start) / MINUTE} min`,
  };
  const both = lives.slice(0, 2);
  const height = close.top + heightOf(both.length) + 44;
  const parts = [
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...panel(whole, lives),
    ...panel(close, both),
    ...legend(height - 16),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}"`,
    ` font-family="sans-serif" font-size="12" role="img">`,
    `<title>The phases of CAs that replace each other, as a simulated run has them</title>\n`,
    ...parts.map((part) => `${part}\n`),
    '</svg>\n',
  ].join('');
}

function heightOf(rows: number): number {
  return 40 + rows * ROW;
}

function panel(at: Panel, lives: readonly Life[]): readonly string[] {
  const bottom = at.top + heightOf(lives.length);
  const parts = [text(LEFT, at.top - 8, at.title, 'start')];
  for (let time = Math.ceil(at.from / at.tick) * at.tick; time <= at.to; time += at.tick) {
    const x = position(at, time);
    parts.push(
      `<line x1="${x}" y1="${at.top}" x2="${x}" y2="${bottom - 18}" stroke="#dddddd"/>`,
      text(x, bottom - 4, at.label(time), 'middle'),
    );
  }
  for (const [row, life] of lives.entries()) parts.push(...rowOf(at, life, at.top + 8 + row * ROW));
  return parts;
}

function rowOf(at: Panel, life: Life, y: number): readonly string[] {
  const parts = [text(LEFT - 14, y + BAR - 5, `CA ${life.letter}`, 'end')];
  for (const { phase, span } of life.phases) {
    parts.push(...bar(at, span, { y, height: BAR, fill: FILL[phase] }));
  }
  for (const span of life.served) {
    parts.push(...bar(at, span, { y: y + BAR + 4, height: 5, fill: INK }));
  }
  const seen = life.leaves.filter((leaf) => leaf.at >= at.from && leaf.at <= at.to);
  for (const [index, { at: from, notAfter }] of seen.entries()) {
    const line = y + BAR + 16 + (index % 4) * 5;
    parts.push(
      `<line x1="${position(at, from)}" y1="${line}" x2="${position(at, notAfter)}" y2="${line}" stroke="#777777" stroke-width="1"/>`,
      `<circle cx="${position(at, from)}" cy="${line}" r="2" fill="${INK}"/>`,
    );
  }
  return parts;
}

interface Look {
  readonly y: number;
  readonly height: number;
  readonly fill: string;
}

function bar(at: Panel, span: Span, { y, height, fill }: Look): readonly string[] {
  if (span.to < at.from || span.from > at.to) return [];
  const [from, to] = [position(at, span.from), position(at, span.to)];
  // Ten minutes of two months are to be seen all the same.
  const width = Math.max(2, round(to - from));
  return [`<rect x="${from}" y="${y}" width="${width}" height="${height}" fill="${fill}"/>`];
}

function legend(y: number): readonly string[] {
  const entries = [
    [FILL.Prepared, 'Prepared: published only'],
    [FILL.Active, 'Active: signs'],
    [FILL.Retiring, 'Retiring: still trusted'],
    [INK, 'in the bundle'],
    ['#777777', 'the life of a leaf'],
  ] as const;
  // As wide as the widest of the usual fonts has these words.
  const x = [LEFT, 255, 370, 560, 675];
  return entries.flatMap(([fill, words], index) => [
    `<rect x="${x[index] ?? 0}" y="${y - 9}" width="10" height="10" fill="${fill}"/>`,
    text((x[index] ?? 0) + 16, y, words, 'start'),
  ]);
}

function position({ from, to }: Panel, time: number): number {
  const share = (Math.min(Math.max(time, from), to) - from) / (to - from);
  return round(LEFT + share * (WIDTH - LEFT - RIGHT));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${INK}">${words}</text>`;
}
