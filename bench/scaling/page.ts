// SPDX-License-Identifier: Apache-2.0
import { tables } from './tables.ts';

/** The page with every table in its place: between `<!-- table: name -->` and `<!-- end -->`. */
export function filled(page: string): string {
  let text = page;
  for (const [name, table] of tables()) {
    const place = new RegExp(`(<!-- table: ${name} -->\n)[^]*?(<!-- end -->)`);
    if (!place.test(text)) throw new Error(`the page has no place for the table "${name}"`);
    text = text.replace(
      place,
      (_all, begin: string, end: string) => `${begin}\n${table}\n\n${end}`,
    );
  }
  return text;
}
