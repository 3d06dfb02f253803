// SPDX-License-Identifier: Apache-2.0
import { COVERED } from './baselines.ts';
import type { Figures, Ratios } from './figures.ts';
import { KINDS } from './work.ts';

const NAME_WIDTH = 16;

/** What each covers, leaves a second and core, and the ratios that a mark is set on. */
export function printIssueTable(figures: Figures, ratios: Ratios): void {
  console.log('');
  for (const [name, covered] of Object.entries(COVERED)) {
    console.log(`${name.padEnd(NAME_WIDTH)}${covered}`);
  }
  for (const kind of KINDS) {
    const head = `${kind}: leaves/s/core`.padEnd(NAME_WIDTH + 8);
    console.log(`\n${head}${['median', 'least', 'most'].map((each) => each.padStart(9)).join('')}`);
    for (const [name, figure] of Object.entries(figures[kind])) {
      const cells = [figure.perSecondAndCore, figure.least, figure.most];
      const text = cells.map((value) => String(value).padStart(9)).join('');
      console.log(`${name.padEnd(NAME_WIDTH + 8)}${text}`);
    }
  }
  console.log('');
  for (const [name, ratio] of Object.entries(ratios)) {
    if (typeof ratio !== 'number') continue;
    const each = KINDS.map(
      (kind) => `${kind} ${Object.entries(ratios[kind]).find(([of]) => of === name)?.[1] ?? ''}`,
    );
    console.log(`${name}  ${ratio}  (${each.join(', ')})`);
  }
}
