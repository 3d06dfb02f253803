// SPDX-License-Identifier: Apache-2.0
/**
 * Writes docs/checks from the catalogue of `countersign check`. test/diagnose/check compares them.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CATALOGUE, pageOf, renderIndex, renderPage } from '#diagnose/check/catalogue.ts';

const ROOT = join(import.meta.dirname, '..');

const pages = [...CATALOGUE.keys()].map((id) => [pageOf(id), renderPage(id)] as const);
const folder = join(ROOT, dirname(pageOf('clock-offset')));
mkdirSync(folder, { recursive: true });
for (const old of readdirSync(folder)) rmSync(join(folder, old));
for (const [page, text] of [...pages, ['docs/checks/README.md', renderIndex()] as const]) {
  writeFileSync(join(ROOT, page), text);
}
