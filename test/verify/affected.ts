// SPDX-License-Identifier: Apache-2.0
/** What `make affected` checks after a change. */
import { matchesGlob } from 'node:path';
import type { ImportGraph } from './import-graph.ts';

/** The laws of the architecture read the whole tree: every change affects them. */
export const LAWS = 'test/architecture';

/** The files for each check, relative to the root of the repository. */
export interface Affected {
  /** For prettier, which leaves out what it does not know. */
  readonly format: readonly string[];
  readonly lint: readonly string[];
  /** Unit tests, without those of {@link LAWS}. */
  readonly tests: readonly string[];
}

export interface Change {
  /** Paths that differ, whether or not a file is there now. */
  readonly changed: readonly string[];
  /** The files of the repository. */
  readonly files: readonly string[];
  /** The folders of unit tests. */
  readonly folders: readonly string[];
}

/** Returns what a change affects: a unit test that loads or names a changed path is affected. */
export function affectedBy({ changed, files, folders }: Change, graph: ImportGraph): Affected {
  const known = new Set(files);
  const format = changed.filter((path) => known.has(path));
  const isUnit = (file: string): boolean =>
    folders.some((folder) => folder !== LAWS && matchesGlob(file, `${folder}/**/*.test.ts`));
  const tests = files.filter(isUnit).filter((file) => {
    const { has } = graph.reachOf([file]);
    return changed.some(has);
  });
  const lint = format.filter((path) => path.endsWith('.ts') || path === 'eslint.config.js');
  return { format, lint, tests };
}
