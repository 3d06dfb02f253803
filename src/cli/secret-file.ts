// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';

/**
 * Reads the password in a file.
 *
 * @throws Error of Node if the file cannot be read
 */
export async function readSecretFile(file: string): Promise<string> {
  return passwordIn(await readFile(file, 'utf8'));
}

/** Returns the password in the text of a file. Editors add a line end, which is not part of it. */
export function passwordIn(text: string): string {
  return text.replace(/\r?\n$/, '');
}
