// SPDX-License-Identifier: Apache-2.0
/** The rooms of src as a house: each room on a floor above all rooms that it imports from. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { roomOf } from '../places.ts';
import { readSources, type Source } from '../sources.ts';

/** A row of the table in src/README.md. */
export interface Room {
  readonly name: string;
  readonly purpose: string;
  /** Names of its components. */
  readonly components: readonly string[];
}

/** An arrow of the picture: `from` imports from `to`. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
}

/** Room → the other rooms that its files import from. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>;

const PAGE = join(import.meta.dirname, '../../../src/README.md');

/** Returns the rooms in the order of the table of src/README.md, the ground first. */
export function readRooms(): readonly Room[] {
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| `(\w+)` +\| (.+?) +\|(.*)\|$/gm);
  return [...rows].map(([, name = '', purpose = '', components = '']) => ({
    name,
    purpose,
    components: [...components.matchAll(/`([^`]+)`/g)].map(([, each = '']) => each),
  }));
}

export function importsOfRooms(sources: readonly Source[] = readSources()): Imports {
  const found = new Map<string, Set<string>>();
  for (const { path, imports } of sources) {
    const room = roomOf(path);
    const targets = found.get(room) ?? new Set<string>();
    for (const each of imports.map(roomOf)) if (each !== room && each !== '..') targets.add(each);
    found.set(room, targets);
  }
  return found;
}

/** Returns the names of the rooms by floor, the ground floor first. */
export function floorsOf(imports: Imports): readonly (readonly string[])[] {
  const heights = new Map<string, number>();
  const heightOf = (room: string): number => {
    const known = heights.get(room);
    if (known !== undefined) return known;
    const below = [...(imports.get(room) ?? [])].map(heightOf);
    const height = Math.max(-1, ...below) + 1;
    heights.set(room, height);
    return height;
  };
  const floors: string[][] = [];
  for (const room of imports.keys()) (floors[heightOf(room)] ??= []).push(room);
  return floors;
}

/** Returns the imports that do not follow from others: an arrow for each. */
export function arrowsOf(imports: Imports): readonly Arrow[] {
  const targetsOf = (room: string): readonly string[] => [...(imports.get(room) ?? [])];
  const leadsTo = (from: string, to: string): boolean =>
    targetsOf(from).some((next) => next === to || leadsTo(next, to));
  return [...imports.keys()].flatMap((from) =>
    targetsOf(from)
      .filter((to) => !targetsOf(from).some((next) => next !== to && leadsTo(next, to)))
      .map((to) => ({ from, to })),
  );
}
