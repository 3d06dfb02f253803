// SPDX-License-Identifier: Apache-2.0
/** Writes the picture of CONTRIBUTING.md: the rooms of src, and who imports from whom. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawHouse, THEMES, type Theme } from './draw.ts';
import { importsOfRooms, readRooms } from './floors.ts';

const PICTURES = join(import.meta.dirname, '../../../docs/pictures');

export function pictureOf(theme: Theme): string {
  return join(PICTURES, `house-${theme}.svg`);
}

if (import.meta.main)
  for (const theme of THEMES)
    writeFileSync(pictureOf(theme), drawHouse(readRooms(), importsOfRooms(), theme));
