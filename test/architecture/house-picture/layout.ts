// SPDX-License-Identifier: Apache-2.0
/** Where each room and each arrow of the house is in the picture. Pure. */
import { arrowsOf, floorsOf, type Arrow, type Imports } from './floors.ts';

/** A room, or a gap in a floor through which an arrow to a lower floor passes. */
interface Slot {
  readonly id: string;
  /** Absent for a gap. */
  readonly room?: string;
}

/** One step of an arrow, from a floor to the next. */
interface Step {
  readonly upper: string;
  readonly lower: string;
}

/** Middle and width of each slot, in units of the picture. */
export interface Place {
  readonly x: number;
  readonly floor: number;
  readonly room?: string;
}

/** Places by id, and the ids through which each arrow leads, from the top. */
export interface Layout {
  readonly floors: number;
  readonly places: ReadonlyMap<string, Place>;
  readonly ways: readonly (readonly string[])[];
}

/** Sweeps over the floors in which neighbours are moved below each other. More change nothing. */
const SWEEPS = 8;

/** @param box - width of a room; @param gap - width of a gap; @param width - of the picture */
export function layoutOf(imports: Imports, width: number, box: number, gap: number): Layout {
  const floors = floorsOf(imports);
  const floorOf = new Map(floors.flatMap((rooms, floor) => rooms.map((room) => [room, floor])));
  const slots: Slot[][] = floors.map((rooms) => rooms.map((room) => ({ id: room, room })));
  const ways = arrowsOf(imports).map((arrow) => wayOf(arrow, floorOf, slots));
  const steps = ways.flatMap((way) =>
    way.slice(1).map((lower, index) => ({ upper: way[index] ?? '', lower })),
  );
  order(slots, steps);
  const places = new Map<string, Place>();
  for (const [floor, row] of slots.entries()) {
    const widths = row.map(({ room }) => (room === undefined ? gap : box));
    const space = (width - sum(widths)) / (row.length + 1);
    row.forEach(({ id, room }, index) => {
      const left = sum(widths.slice(0, index)) + space * (index + 1);
      const x = left + (widths[index] ?? 0) / 2;
      places.set(id, { x, floor, ...(room !== undefined && { room }) });
    });
  }
  return { floors: floors.length, places, ways };
}

/** Adds a gap to each floor between the ends of an arrow, and returns the ids on its way. */
function wayOf(
  { from, to }: Arrow,
  floorOf: ReadonlyMap<string | number, string | number>,
  slots: Slot[][],
): readonly string[] {
  const way = [from];
  for (let floor = Number(floorOf.get(from)) - 1; floor > Number(floorOf.get(to)); floor -= 1) {
    const id = `${from} ${to} ${floor}`;
    slots[floor]?.push({ id });
    way.push(id);
  }
  return [...way, to];
}

/** Orders each floor by the middle of its neighbours, so that few arrows cross. */
function order(slots: Slot[][], steps: readonly Step[]): void {
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const down = sweep % 2 === 0;
    const floors = [...slots.keys()];
    for (const floor of down ? floors.reverse() : floors) {
      const near = slots[down ? floor + 1 : floor - 1];
      const row = slots[floor];
      if (near === undefined || row === undefined) continue;
      const at = new Map(near.map(({ id }, index) => [id, (index + 0.5) / near.length]));
      const middles = new Map(
        row.map(({ id }, index) => {
          const ends = steps
            .filter((step) => (down ? step.lower : step.upper) === id)
            .map((step) => at.get(down ? step.upper : step.lower) ?? 0);
          return [id, ends.length === 0 ? (index + 0.5) / row.length : sum(ends) / ends.length];
        }),
      );
      row.sort((a, b) => (middles.get(a.id) ?? 0) - (middles.get(b.id) ?? 0));
    }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
