// SPDX-License-Identifier: Apache-2.0
/**
 * What the house of `src` must not have: each function returns one line a finding, which names the
 * culprit. Run it for the findings of one room: `node test/architecture/house.ts kube/watch`.
 */
import { existsSync, globSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import {
  constantsOf,
  declared,
  isExported,
  isType,
  linesOf,
  namedInSignatures,
  nameOf,
  parseFile,
  parseText,
} from './syntax.ts';
import { isCatalogue } from './places.ts';
import { targetOf } from './sources.ts';

/** One file of src with its syntax. */
export interface HouseFile {
  /** Relative to src. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

/** Lines of code, without comments and blanks: above it, a file is two files. */
const MAX_LINES = 400;
/** Above it, a function is two functions. */
const MAX_FUNCTION_LINES = 80;
/** Below it, a file with one importer beside it is a function of that importer. */
const CRUMB_LINES = 20;
/** From here on, a folder needs a contents page. */
const PAGE_FROM = 5;
/** Where every export has a docstring: what judges bytes, what is public, what judges others. */
const DOCUMENTED = ['pki', 'library', 'conformance'];
/** Runs the kit; its users see the command only. */
const NOT_DOCUMENTED = 'conformance/runner/';

const ROOT = join(import.meta.dirname, '../..');
const SRC = join(ROOT, 'src');

export function readHouse(): readonly HouseFile[] {
  const paths = globSync('**/*.ts', { cwd: SRC }).sort();
  return paths.map((path) => fileOf(path, parseFile(join(SRC, path))));
}

/** Programs of the repository that use src and are no tests; their paths lead from src to them. */
export function readUsers(): readonly HouseFile[] {
  // The last compares the schemas of kinds with the CRDs, and needs them whole.
  const programs = ['build/**/*.ts', 'demo/**/*.ts', 'examples/*.ts', 'bench/scaling/*.ts'];
  const patterns = [...programs, 'test/architecture/acme-crd.test.ts'];
  const paths = globSync(patterns, { cwd: ROOT }).sort();
  return paths.map((path) => fileOf(`../${path}`, parseFile(join(ROOT, path))));
}

export function houseFile(path: string, text: string): HouseFile {
  return fileOf(path, parseText(path, text));
}

function fileOf(path: string, tree: ts.SourceFile): HouseFile {
  return { path, text: tree.text, tree };
}

export function longFiles(files: readonly HouseFile[]): readonly string[] {
  return files
    .map(({ path, tree }) => ({ path, lines: codeLinesOf(tree) }))
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines of code`);
}

/** Counts the lines that hold a token: comments and blanks are no code. */
function codeLinesOf(tree: ts.SourceFile): number {
  const lines = new Set<number>();
  const lineAt = (position: number): number => tree.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(tree).filter(({ kind }) => kind !== ts.SyntaxKind.JSDoc);
    children.forEach(visit);
    if (children.length > 0 || node.getWidth(tree) === 0) return;
    for (let line = lineAt(node.getStart(tree)); line <= lineAt(node.getEnd()); line += 1)
      lines.add(line);
  };
  visit(tree);
  return lines.size;
}

export function longFunctions(files: readonly HouseFile[]): readonly string[] {
  return files.flatMap(({ path, tree }) => {
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      const lines = ts.isFunctionLike(node) ? linesOf(node, tree) : 0;
      if (lines > MAX_FUNCTION_LINES) found.push(`${path}: ${nameOf(node)} has ${lines} lines`);
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return found;
  });
}

/** Folders of the first and second level with no README.md and no index.ts to open first. */
export function foldersWithoutPage(
  files: readonly HouseFile[],
  isThere: (path: string) => boolean,
): readonly string[] {
  return [...byFolder(files)]
    .filter(([folder, inside]) => folder.split('/').length <= 2 && inside.length >= PAGE_FROM)
    .filter(([folder]) => folder !== '.')
    .filter(([folder]) => !['README.md', 'index.ts'].some((page) => isThere(`${folder}/${page}`)))
    .map(([folder]) => `${folder}/ has no README.md and no index.ts`);
}

/**
 * A file that is loaded lazily by its only importer is no crumb: it keeps what it loads apart.
 * Neither is a `messages.ts`, since readers look there for texts, however few these are.
 */
export function crumbs(files: readonly HouseFile[]): readonly string[] {
  const importers = importersOf(files);
  return files.flatMap(({ path, text }) => {
    const [only, ...more] = importers.get(path) ?? [];
    const lines = text.split('\n').length - 1;
    if (isCatalogue(path)) return [];
    if (lines >= CRUMB_LINES || only === undefined || more.length > 0 || only.lazy) return [];
    if (posix.dirname(only.path) !== posix.dirname(path)) return [];
    return [`${path} has ${lines} lines and one importer, ${only.path}`];
  });
}

/** Exported type names that mean different things in different files. */
export function typeNamesWithTwoShapes(files: readonly HouseFile[]): readonly string[] {
  const places = new Map<string, string[]>();
  for (const file of files) {
    for (const statement of file.tree.statements) {
      if (!isType(statement) || !isExported(statement)) continue;
      const name = statement.name?.text ?? '';
      places.set(name, [...(places.get(name) ?? []), file.path]);
    }
  }
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name} is exported by ${paths.join(' and ')}`);
}

/** Numbers of one name, exported or not, with different values. */
export function constantsWithTwoValues(files: readonly HouseFile[]): readonly string[] {
  const values = new Map<string, Map<string, string[]>>();
  for (const { path, tree } of files) {
    for (const { name, value } of tree.statements.flatMap((each) => constantsOf(each, tree))) {
      const of = values.get(name) ?? new Map<string, string[]>();
      of.set(value, [...(of.get(value) ?? []), path]);
      values.set(name, of);
    }
  }
  return [...values]
    .filter(([, of]) => of.size > 1)
    .map(([name, of]) => {
      const shown = [...of].map(([value, paths]) => `${value} in ${paths.join(', ')}`);
      return `${name} is ${shown.join('; ')}`;
    });
}

/**
 * Exports that no other file of src imports. The package's own entry is read by others; a type may
 * be exported because a signature of its file names it.
 *
 * @param users - programs beside src that are no tests: what makes the manifests, the demo
 */
export function unusedExports(
  files: readonly HouseFile[],
  users: readonly HouseFile[] = [],
): readonly string[] {
  const used = usedNames([...files, ...users]);
  return files.flatMap(({ path, tree }) => {
    if (path === 'library/index.ts') return [];
    const named = namedInSignatures(tree);
    return tree.statements
      .flatMap((each) => (isExported(each) ? declared(each) : []))
      .filter(({ name, type }) => !used.has(`${path} ${name}`) && !(type && named.has(name)))
      .map(({ name }) => `${path}: ${name} is exported and imported by no other file of src`);
  });
}

/** API resources whose group, version and plural are written in more than one place. */
export function resourcesWrittenTwice(files: readonly HouseFile[]): readonly string[] {
  const places = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const [, fields = ''] of text.matchAll(/\bresource\(\{([^}]*)\}\)/g)) {
      const written = fields.split(',').map((field) => field.trim());
      const named = written.filter((field) => field !== '').sort();
      if (!named.some((field) => field.startsWith("plural: '"))) continue;
      const key = named.join(', ');
      places.set(key, [...(places.get(key) ?? []), path]);
    }
  }
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([key, paths]) => `{ ${key} } is in ${paths.join(' and ')}`);
}

/**
 * Exports of the documented rooms without a docstring. The texts of messages.ts explain themselves.
 */
export function exportsWithoutDocstring(files: readonly HouseFile[]): readonly string[] {
  return files
    .filter(({ path }) => DOCUMENTED.includes(path.split('/')[0] ?? ''))
    .filter(({ path }) => !path.startsWith(NOT_DOCUMENTED) && !isCatalogue(path))
    .flatMap(({ path, tree }) =>
      tree.statements
        .filter((each) => isExported(each) && ts.getJSDocCommentsAndTags(each).length === 0)
        .flatMap(declared)
        .map(({ name }) => `${path}: ${name} has no docstring`),
    );
}

function byFolder(files: readonly HouseFile[]): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  for (const { path } of files) {
    const folder = posix.dirname(path);
    folders.set(folder, [...(folders.get(folder) ?? []), path]);
  }
  return folders;
}

interface Importer {
  readonly path: string;
  readonly lazy: boolean;
}

function importersOf(files: readonly HouseFile[]): ReadonlyMap<string, readonly Importer[]> {
  const importers = new Map<string, Importer[]>();
  for (const { path, text } of files) {
    const imported = new Map<string, boolean>();
    for (const [, lazy, name = ''] of text.matchAll(/(?:from|(import\())\s*'([.#][^']+)'/g)) {
      const target = targetOf(path, name);
      imported.set(target, (imported.get(target) ?? true) && lazy !== undefined);
    }
    for (const [target, lazy] of imported) {
      importers.set(target, [...(importers.get(target) ?? []), { path, lazy }]);
    }
  }
  return importers;
}

function usedNames(files: readonly HouseFile[]): ReadonlySet<string> {
  const used = new Set<string>();
  const everything = new Map(files.map((file) => [file.path, file.tree]));
  for (const { path, tree } of files) {
    const visit = (node: ts.Node): void => {
      const target = importedFile(node, path);
      for (const name of target === undefined ? [] : namesTaken(node, everything.get(target))) {
        used.add(`${target ?? ''} ${name}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
  }
  return used;
}

/** The file of src that an import, an export from or an `import()` names. */
function importedFile(node: ts.Node, path: string): string | undefined {
  const name = specifierOf(node);
  if (name === undefined || !ts.isStringLiteral(name) || !/^[.#]/.test(name.text)) return undefined;
  const target = targetOf(path, name.text);
  return target.startsWith('../src/') ? target.slice('../src/'.length) : target;
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return node.argument.literal;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return node.arguments[0];
  }
  return undefined;
}

/** What is taken of `tree` by its names; all of it where the import does not say. */
function namesTaken(node: ts.Node, tree: ts.SourceFile | undefined): readonly string[] {
  const bindings = ts.isImportDeclaration(node)
    ? node.importClause?.namedBindings
    : ts.isExportDeclaration(node)
      ? node.exportClause
      : undefined;
  if (bindings !== undefined && (ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) {
    return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
  }
  if (ts.isImportDeclaration(node) && bindings === undefined) return [];
  return tree?.statements.flatMap(declared).map(({ name }) => name) ?? [];
}

if (import.meta.main) {
  const files = readHouse();
  const rules = {
    longFiles,
    longFunctions,
    crumbs,
    typeNamesWithTwoShapes,
    constantsWithTwoValues,
    exportsWithoutDocstring,
    unusedExports: (all: readonly HouseFile[]) => unusedExports(all, readUsers()),
    foldersWithoutPage: (all: readonly HouseFile[]) =>
      foldersWithoutPage(all, (path) => existsSync(join(SRC, path))),
  };
  const wanted = process.argv[2] ?? '';
  for (const [name, rule] of Object.entries(rules)) {
    const found = rule(files).filter((line) => line.includes(wanted));
    console.log(`${name}: ${found.length}`);
    for (const line of found) console.log(`  ${line}`);
  }
}
