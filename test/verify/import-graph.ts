// SPDX-License-Identifier: Apache-2.0
/**
 * What a file of the repository loads and reads. Paths are relative to the root of the repository.
 */
import { matchesGlob, posix } from 'node:path';
import { readSource } from '../architecture/sources.ts';

/** The files of the repository. */
export interface Tree {
  readonly files: readonly string[];
  readonly read: (path: string) => string;
}

/** What one file of TypeScript loads, and what it names in a string. */
interface Edges {
  readonly files: readonly string[];
  /** With all below them, without a slash at the end. */
  readonly folders: readonly string[];
}

/** Everything that programs load and read. */
export interface Reach {
  readonly files: ReadonlySet<string>;
  /** Reports whether a path is reached, whether or not a file is there now. */
  readonly has: (path: string) => boolean;
}

/** Where a reach begins: files, folders with all below them, and patterns of files. */
export type Roots = readonly string[];

/** Names of files and folders at the root that have neither a slash nor a dot. */
const ROOT_NAMES = ['Dockerfile', 'Makefile', 'LICENSE', 'deploy', 'rbac', 'docs', 'examples'];
/** Folders whose programs read what is beside them: fixtures, programs in Go. */
const READS_BESIDE = /^(?:test|bench|demo|examples|build)\/./;
const LITERAL = /(?<=['"`])[\w@./*-]+(?=['"`]|\$\{)/g;
const PATTERN = /\*\.(?:ts|md|json|ya?ml|go|pem|svg|html|css)$|\/\*+$/;
/** The product reads no file of the repository by its path. */
const NAMES_NO_PATH = /^src\//;
/** Lines of comments alone: `//` is in addresses too. */
const COMMENT = /^\s*(?:\/?\*|\/\/).*$/gm;
/** `examples/` imports the library by its name, as others do. */
const LIBRARY = ['countersign', 'src/library/index.ts'] as const;

export class ImportGraph {
  readonly #tree: Tree;
  readonly #files: ReadonlySet<string>;
  readonly #folders: ReadonlySet<string>;
  readonly #edges = new Map<string, Edges>();
  readonly #below = new Map<string, readonly string[]>();

  constructor(tree: Tree) {
    this.#tree = tree;
    this.#files = new Set(tree.files);
    this.#folders = new Set(tree.files.flatMap(foldersOf));
  }

  /**
   * Returns everything that the roots load by imports, with what their files name in strings: a
   * file, a folder or a pattern, relative to the file or to the root of the repository.
   */
  reachOf(roots: Roots): Reach {
    const folders = new Set(roots.filter((each) => this.#folders.has(each)));
    const globs = roots.filter((each) => each.includes('*'));
    const files = new Set(roots.filter((each) => this.#files.has(each)));
    for (const glob of globs)
      for (const file of this.#tree.files) if (matchesGlob(file, glob)) files.add(file);
    const beside = new Set<string>();
    // Both sets grow while they are read: a folder adds files, and a file adds folders.
    const opened = new Set<string>();
    const open = (): void => {
      for (const folder of folders) {
        if (opened.has(folder)) continue;
        opened.add(folder);
        for (const file of this.#filesBelow(folder)) files.add(file);
      }
    };
    open();
    for (const file of files) {
      if (!isCode(file)) continue;
      const edges = this.#edgesOf(file);
      for (const each of edges.files) files.add(each);
      for (const each of edges.folders) folders.add(each);
      if (READS_BESIDE.test(file)) beside.add(posix.dirname(file));
      open();
    }
    for (const folder of beside)
      for (const file of this.#filesBelow(folder)) if (!isCode(file)) files.add(file);
    const isBelow = (path: string, all: ReadonlySet<string>): boolean =>
      foldersOf(path).some((folder) => all.has(folder));
    return {
      files,
      has: (path) =>
        files.has(path) ||
        isBelow(path, folders) ||
        (!isCode(path) && isBelow(path, beside)) ||
        globs.some((glob) => matchesGlob(path, glob)),
    };
  }

  #filesBelow(folder: string): readonly string[] {
    const known = this.#below.get(folder);
    if (known !== undefined) return known;
    const below = this.#tree.files.filter((file) => file.startsWith(`${folder}/`));
    this.#below.set(folder, below);
    return below;
  }

  #edgesOf(file: string): Edges {
    const known = this.#edges.get(file);
    if (known !== undefined) return known;
    const text = this.#tree.read(file);
    // The reader's paths are relative to src: `../test/x.ts` is a path too.
    const source = readSource(posix.relative('src', file), text);
    const imported = source.imports.map((each) => posix.join('src', each));
    const [name, entry] = LIBRARY;
    if (source.packages.includes(name)) imported.push(entry);
    const literals = NAMES_NO_PATH.test(file) ? [] : text.replaceAll(COMMENT, '').matchAll(LITERAL);
    const named = [...literals].flatMap(([literal]) => this.#named(file, literal));
    const edges = {
      files: [...imported, ...named].filter((each) => this.#files.has(each)),
      folders: named.filter((each) => this.#folders.has(each)),
    };
    this.#edges.set(file, edges);
    return edges;
  }

  /** The paths that a string in a file may mean. */
  #named(file: string, literal: string): readonly string[] {
    if (!/[./]/.test(literal)) return ROOT_NAMES.includes(literal) ? [literal] : [];
    // `../..` is where a file computes other paths from, and `*.example.com` names no files.
    if (/^[./]+$/.test(literal)) return [];
    if (literal.includes('*') && !PATTERN.test(literal)) return [];
    // Of a pattern, the folder in which it begins.
    const path = literal.includes('*')
      ? posix.dirname(`${literal.slice(0, literal.indexOf('*'))}x`)
      : literal.replace(/\/$/, '');
    const meant = [posix.join(posix.dirname(file), path), posix.normalize(path)];
    return meant.filter((each) => each !== '.' && !each.startsWith('..'));
  }
}

function isCode(path: string): boolean {
  return path.endsWith('.ts');
}

/** `a/b` and `a` of `a/b/c.ts`. */
function foldersOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
