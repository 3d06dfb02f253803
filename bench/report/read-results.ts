// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../measure/machine.ts';
import { BENCHES, type Bench } from './marks.ts';

/** A bench's results as they lie in their file; any figure may be missing in an older one. */
export interface Measured {
  readonly ratios: Readonly<Record<string, unknown>>;
  readonly figures: Readonly<Record<string, unknown>>;
  readonly machine: Machine;
}

/** What a bench measured, and what people wrote about it. */
export interface Chapter {
  readonly bench: Bench;
  /** Undefined: it was not run yet. */
  readonly measured: Measured | undefined;
  /** Markdown: what is measured and how; where the time goes. */
  readonly notes: string;
}

/** Reads `<results>/<bench>.json` and `<notes>/<bench>.md` of every bench. */
export function readChapters(results: string, notes: string): readonly Chapter[] {
  return BENCHES.map((bench) => {
    const text = readIfThere(join(results, `${bench}.json`));
    return {
      bench,
      measured: text === undefined ? undefined : (JSON.parse(text) as Measured),
      notes: readIfThere(join(notes, `${bench}.md`)) ?? '',
    };
  });
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
