// SPDX-License-Identifier: Apache-2.0
import type { Imports, Room } from './floors.ts';
import { layoutOf, type Layout, type Place } from './layout.ts';

/** GitHub shows a page in a column of about 830 pixels. */
const WIDTH = 830;
const BOX = 260;
/** Width that an arrow takes between two rooms. */
const GAP = 14;
const LINE = 16;
/** Above the name of a room, and below its last line. */
const PADDING = 10;
const NAME = 18;
/** Between two floors, for the arrows. */
const BETWEEN = 30;
const HEADER = 36;
/** Characters of 13 pixels that a box holds in a line. */
const CHARACTERS = 35;

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const COLOURS: Readonly<Record<Theme, Readonly<Record<string, string>>>> = {
  light: {
    ground: '#ffffff',
    plain: '#f6f8fa',
    edge: '#6e7781',
    name: '#1f2328',
    note: '#57606a',
    ours: '#0550ae',
  },
  dark: {
    ground: '#0d1117',
    plain: '#161b22',
    edge: '#8b949e',
    name: '#e6edf3',
    note: '#9ea7b3',
    ours: '#79c0ff',
  },
};

/** One box with the lines of its text. */
interface Box {
  readonly room: Room;
  readonly purpose: readonly string[];
  readonly components: readonly string[];
}

/** Draws the house: the ground at the bottom, and each room above those that it imports from. */
export function drawHouse(rooms: readonly Room[], imports: Imports, theme: Theme): string {
  const layout = layoutOf(imports, WIDTH, BOX, GAP);
  const boxes = new Map(rooms.map((room) => [room.name, boxOf(room)]));
  const tops = topsOf(layout, boxes);
  const height = tops.at(0) ?? 0;
  const bottom = height + heightOfFloor(0, layout, boxes) + PADDING;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${bottom}" viewBox="0 0 ${WIDTH} ${bottom}" font-family="ui-sans-serif, system-ui, sans-serif" text-anchor="middle" role="img">`,
    '<title>The rooms of src: each stands above the rooms that it imports from</title>',
    ...styleOf(COLOURS[theme]),
    `<rect class="ground" width="${WIDTH}" height="${bottom}" rx="8"/>`,
    `<text class="note" x="${WIDTH / 2}" y="22">An arrow leads to a room that is imported. Imports of rooms further along the arrows are left out.</text>`,
    ...layout.ways.map((way) => arrow(way, layout, boxes, tops)),
    ...[...layout.places.values()].flatMap((place) => drawRoom(place, boxes, tops)),
    '</svg>',
    '',
  ].join('\n');
}

function styleOf(colours: Readonly<Record<string, string>>): readonly string[] {
  const { ground, plain, edge, name, note, ours } = colours;
  return [
    '<style>',
    `.ground { fill: ${ground}; }`,
    `.plain { fill: ${plain}; stroke: ${edge}; }`,
    `.name { fill: ${name}; font-size: 16px; font-weight: 600; }`,
    `.note { fill: ${note}; font-size: 13px; }`,
    `.ours { fill: ${ours}; font-size: 13px; }`,
    `.head { fill: ${edge}; }`,
    `.way { fill: none; stroke: ${edge}; stroke-width: 1.5; marker-end: url(#head); }`,
    '</style>',
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>',
  ];
}

function boxOf(room: Room): Box {
  return {
    room,
    purpose: wrap(room.purpose.replaceAll('`', ''), ' '),
    components: wrap(room.components.join(' · '), ' · '),
  };
}

/** Breaks a text at `separator`, so that each line fits a box. */
function wrap(text: string, separator: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text === '' ? [] : text.split(separator)) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last}${separator}${word}`;
    if (last === undefined || longer.length > CHARACTERS) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function heightOf({ purpose, components }: Box): number {
  return PADDING * 2 + NAME + LINE * (purpose.length + components.length);
}

function heightOfFloor(floor: number, layout: Layout, boxes: ReadonlyMap<string, Box>): number {
  return Math.max(
    ...[...layout.places.values()]
      .filter((place) => place.floor === floor)
      .map(({ room = '' }) => boxes.get(room))
      .map((box) => (box === undefined ? 0 : heightOf(box))),
  );
}

/** Top of each floor, the ground floor first. */
function topsOf(layout: Layout, boxes: ReadonlyMap<string, Box>): readonly number[] {
  const tops: number[] = [];
  let top = HEADER;
  for (let floor = layout.floors - 1; floor >= 0; floor -= 1) {
    tops[floor] = top;
    top += heightOfFloor(floor, layout, boxes) + BETWEEN;
  }
  return tops;
}

function drawRoom(
  { x, floor, room }: Place,
  boxes: ReadonlyMap<string, Box>,
  tops: readonly number[],
): readonly string[] {
  const box = boxes.get(room ?? '');
  if (box === undefined) return [];
  const top = tops[floor] ?? 0;
  const lines = [
    ...box.purpose.map((text) => ({ text, style: 'note' })),
    ...box.components.map((text) => ({ text, style: 'ours' })),
  ];
  const first = top + PADDING + NAME - 4;
  return [
    `<rect class="plain" x="${round(x - BOX / 2)}" y="${top}" width="${BOX}" height="${heightOf(box)}" rx="6"/>`,
    `<text class="name" x="${round(x)}" y="${first}">${box.room.name}</text>`,
    ...lines.map(
      ({ text, style }, index) =>
        `<text class="${style}" x="${round(x)}" y="${first + LINE * (index + 1) + 2}">${text}</text>`,
    ),
  ];
}

/** Draws an arrow from the lower side of a room through the gaps to the upper side of another. */
function arrow(
  way: readonly string[],
  layout: Layout,
  boxes: ReadonlyMap<string, Box>,
  tops: readonly number[],
): string {
  const points: string[] = [];
  for (const [index, id] of way.entries()) {
    const { floor, room } = layout.places.get(id) ?? { floor: 0 };
    const top = tops[floor] ?? 0;
    const box = boxes.get(room ?? '');
    const last = index === way.length - 1;
    const x = portOf(way, index, layout);
    if (index === 0) points.push(`M${x} ${top + (box === undefined ? 0 : heightOf(box))}`);
    else points.push(`L${x} ${last ? top - 1 : top}`);
    const bottom = top + heightOfFloor(floor, layout, boxes);
    if (!last && (index > 0 || box !== undefined)) points.push(`L${x} ${bottom}`);
  }
  return `<path class="way" d="${points.join('')}"/>`;
}

/** Where an arrow meets a room: arrows of one side are spread from left to right, as they come. */
function portOf(way: readonly string[], index: number, layout: Layout): number {
  const id = way[index] ?? '';
  const { x, room } = layout.places.get(id) ?? { x: 0 };
  if (room === undefined) return round(x);
  const step = index === 0 ? 1 : -1;
  const others = layout.ways
    .filter((each) => (index === 0 ? each[0] : each.at(-1)) === id)
    .map((each) => ({ each, far: each.at(index === 0 ? step : each.length - 2) ?? '' }))
    .sort((a, b) => xOf(a.far, layout) - xOf(b.far, layout));
  const at = others.findIndex(({ each }) => each === way);
  return round(x - BOX / 2 + (BOX * (at + 1)) / (others.length + 1));
}

function xOf(id: string, layout: Layout): number {
  return layout.places.get(id)?.x ?? 0;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
