// SPDX-License-Identifier: Apache-2.0

const WIDTH = 1_200;
const ROW = 16;
const TOP = 30;
/** Narrower boxes show nothing, and narrower than a word have no text. */
const LEAST_WIDTH = 0.6;
const LEAST_WIDTH_OF_TEXT = 30;
const CHARACTER = 6.2;

const COLORS = { bundle: '#e8a33d', node: '#8fb4d9', native: '#b9b9b9' } as const;

interface Frame {
  readonly name: string;
  time: number;
  readonly inner: Map<string, Frame>;
}

/**
 * Draws folded stacks (`outer;inner microseconds`) as a flame graph. A box is as wide as the share
 * of the time in which its function was on the stack.
 */
export function flameGraph(stacks: string): string {
  const root: Frame = { name: 'all', time: 0, inner: new Map() };
  for (const line of stacks.split('\n').filter((each) => each !== '')) add(root, line);
  const boxes = boxesOf(root, { x: 0, depth: 0 }, WIDTH / root.time);
  const height = TOP + ROW * (1 + Math.max(...boxes.map(({ depth }) => depth)));
  const legend = 'one drain, the event loop: our bundle, Node itself, V8 and native code';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}"`,
    ` font-family="monospace" font-size="10" role="img">`,
    `<title>Where the event loop's time goes in a drain</title>\n`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>\n`,
    `<text x="4" y="18" font-family="sans-serif" font-size="12">${legend}</text>\n`,
    ...boxes.map((box) => `${boxText(box, root.time)}\n`),
    '</svg>\n',
  ].join('');
}

function add(root: Frame, line: string): void {
  const split = line.lastIndexOf(' ');
  const time = Number(line.slice(split + 1));
  let at = root;
  at.time += time;
  for (const name of line.slice(0, split).split(';')) {
    const next = at.inner.get(name) ?? { name, time: 0, inner: new Map<string, Frame>() };
    at.inner.set(name, next);
    next.time += time;
    at = next;
  }
}

interface Box {
  readonly name: string;
  readonly time: number;
  readonly x: number;
  readonly width: number;
  readonly depth: number;
}

/** Returns the boxes of what is inside a frame, widest first. */
function boxesOf(
  { inner }: Frame,
  { x, depth }: { readonly x: number; readonly depth: number },
  scale: number,
): readonly Box[] {
  let left = x;
  const boxes: Box[] = [];
  for (const frame of [...inner.values()].sort((a, b) => b.time - a.time)) {
    const width = frame.time * scale;
    if (width >= LEAST_WIDTH) {
      boxes.push({ name: frame.name, time: frame.time, x: left, width, depth });
      boxes.push(...boxesOf(frame, { x: left, depth: depth + 1 }, scale));
    }
    left += width;
  }
  return boxes;
}

function boxText({ name, time, x, width, depth }: Box, all: number): string {
  const y = TOP + depth * ROW;
  const share = ((time / all) * 100).toFixed(1);
  const shown = name.slice(0, Math.floor(width / CHARACTER));
  const label =
    width < LEAST_WIDTH_OF_TEXT
      ? ''
      : `<text x="${(x + 2).toFixed(1)}" y="${y + 11}">${escaped(shown)}</text>`;
  return `<g><title>${escaped(name)} ${share} %</title><rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colorOf(name)}"/>${label}</g>`;
}

function colorOf(name: string): string {
  if (name.startsWith('node:')) return COLORS.node;
  return name.startsWith('(') && name !== '(anonymous)' ? COLORS.native : COLORS.bundle;
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
