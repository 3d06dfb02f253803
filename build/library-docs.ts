// SPDX-License-Identifier: Apache-2.0
/**
 * Writes docs/reference/library-api.md from the docstrings of the library. test/library compares
 * them.
 */
import { writeFile } from 'node:fs/promises';
import { LIBRARY_API_PAGE, renderLibraryApi } from './library-api.ts';

await writeFile(LIBRARY_API_PAGE, await renderLibraryApi());
