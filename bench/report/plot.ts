// SPDX-License-Identifier: Apache-2.0
import { shown } from './figures.ts';
import { boundText, type Verdict } from './verdict.ts';

const WIDTH = 860;
const LEFT = 270;
const RIGHT = 230;
const TOP = 46;
const ROW = 24;
const BAR = 13;
/** A tenth of the mark to a hundred times it; what lies beyond is drawn at the edge. */
const LEAST = 0.1;
const MOST = 100;
const TICKS = [0.1, 1, 10, 100];
const MET = '#2f7d4f';
const MISSED = '#b4442f';

/**
 * A bar for each mark that was measured: how many times as good as it has to be, on a logarithmic
 * axis. Right of the line is met.
 */
export function marksPlot(verdicts: readonly Verdict[]): string {
  const rows = verdicts.filter(({ value }) => value !== undefined);
  const height = TOP + rows.length * ROW + 14;
  const parts = [
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...TICKS.flatMap((tick) => gridLine(tick, height)),
    ...rows.flatMap(rowOf),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}"`,
    ` font-family="sans-serif" font-size="12" role="img">`,
    `<title>How many times as good as its mark each ratio is</title>\n`,
    ...parts.map((part) => `${part}\n`),
    '</svg>\n',
  ].join('');
}

function gridLine(tick: number, height: number): readonly string[] {
  const x = position(tick);
  const [color, width] = tick === 1 ? ['#222222', 1.5] : ['#cccccc', 1];
  const label = tick === 1 ? 'the mark' : `× ${tick}`;
  return [
    `<line x1="${x}" y1="${TOP - 8}" x2="${x}" y2="${height - 8}" stroke="${color}" stroke-width="${width}"/>`,
    text(x, TOP - 16, label, 'middle'),
  ];
}

function rowOf(verdict: Verdict, index: number): readonly string[] {
  const { mark, value = 0, met } = verdict;
  const y = TOP + index * ROW;
  const [from, to] = [position(1), position(goodness(verdict))];
  const [x, width] = [Math.min(from, to), Math.max(2, Math.abs(to - from))];
  const fill = met === true ? MET : MISSED;
  const said = `${shown(value)} (${boundText(verdict)})`;
  return [
    text(LEFT - 14, y + BAR - 2, mark.ratio, 'end'),
    `<rect x="${round(x)}" y="${y}" width="${round(width)}" height="${BAR}" fill="${fill}"/>`,
    text(WIDTH - RIGHT + 14, y + BAR - 2, said, 'start'),
  ];
}

/** Above 1: better than the mark, so many times. */
export function goodness({ mark, wanted, value = 0, met }: Verdict): number {
  if (mark.bound === 'within') return met === true ? 1 : LEAST;
  // Nothing at all is infinitely better than a little, and just what is asked for where 0 is.
  if (mark.bound === 'at most') return value <= 0 ? (wanted === 0 ? 1 : MOST) : wanted / value;
  return value / wanted;
}

function position(times: number): number {
  const within = Math.min(MOST, Math.max(LEAST, times));
  const share = Math.log(within / LEAST) / Math.log(MOST / LEAST);
  return round(LEFT + share * (WIDTH - LEFT - RIGHT));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end'): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="#222222">${escaped}</text>`;
}
