// SPDX-License-Identifier: Apache-2.0
/** Writes the page again: a row for each suite, with the results that the page has. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGE, parsePage, renderPage } from './page.ts';
import { ROOT } from './repository.ts';
import { SUITES } from './suites.ts';

const page = join(ROOT, PAGE);
writeFileSync(page, await renderPage(SUITES, parsePage(readFileSync(page, 'utf8'))));
