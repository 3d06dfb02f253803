// SPDX-License-Identifier: Apache-2.0
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

/** One file of src, as its imports and its text show it. */
export interface Source {
  /** Relative to src: `ca/policy/review.ts`. */
  readonly path: string;
  readonly text: string;
  /** Files of src, relative to it; type-only and dynamic imports count. */
  readonly imports: readonly string[];
  /** Names of packages and of Node's own modules. */
  readonly packages: readonly string[];
}

const src = join(import.meta.dirname, '../../src');

let sources: readonly Source[] | undefined;

/** Returns all files of src, which it reads once for all laws. */
export function readSources(): readonly Source[] {
  sources ??= globSync('**/*.ts', { cwd: src })
    .sort()
    .map((path) => readSource(path, readFileSync(join(src, path), 'utf8')));
  return sources;
}

export function readSource(path: string, text: string): Source {
  const names = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const [own, others] = [names.filter(isOwn), names.filter((name) => !isOwn(name))];
  return {
    path,
    text,
    imports: own.map((name) => targetOf(path, name)),
    packages: others.map(packageOf),
  };
}

/** Everything that is loaded with `path`, itself included. */
export function closureOf(path: string, sources: readonly Source[]): ReadonlySet<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const found = new Set([path]);
  for (const next of found) for (const each of loadedBy(byPath.get(next))) found.add(each);
  return found;
}

/**
 * The imports without the one by which a descriptor loads the code of its component when that
 * starts. So it closes no circle: the operators read the list that has their own descriptors.
 */
function loadedBy(source: Source | undefined): readonly string[] {
  const { path = '', imports = [] } = source ?? {};
  if (!path.endsWith('/component.ts')) return imports;
  return imports.filter((each) => each !== posix.join(posix.dirname(path), 'run.ts'));
}

/** Each circle of imports once, as `a.ts → b.ts → a.ts`, from its first file by name. */
export function circlesOf(sources: readonly Source[]): readonly string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const importsOf = (path: string): readonly string[] => loadedBy(byPath.get(path));
  const found: string[] = [];
  const done = new Set<string>();
  for (const { path } of sources) {
    const way = done.has(path) ? undefined : wayBack(path, importsOf);
    if (way === undefined) continue;
    for (const each of way) done.add(each);
    found.push([...way, path].join(' → '));
  }
  return found;
}

/** The shortest way from a file back to itself, without its end. */
function wayBack(
  path: string,
  importsOf: (path: string) => readonly string[],
): readonly string[] | undefined {
  const ways: (readonly string[])[] = [[path]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const next of importsOf(way.at(-1) ?? path)) {
      if (next === path) return way;
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  }
  return undefined;
}

/**
 * Whether an import names a file of the project: by a relative path, or by `#room/…` from
 * package.json.
 */
function isOwn(name: string): boolean {
  return name.startsWith('.') || name.startsWith('#');
}

/** The file that `name` means in the file `path`; both are relative to src. */
export function targetOf(path: string, name: string): string {
  return name.startsWith('#') ? name.slice(1) : posix.join(posix.dirname(path), name);
}

/**
 * `@kubernetes/client-node` of `@kubernetes/client-node/dist/x.js`; `node:` names are kept whole.
 */
function packageOf(name: string): string {
  if (name.startsWith('node:')) return name;
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}
