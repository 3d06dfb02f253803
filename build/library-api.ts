// SPDX-License-Identifier: Apache-2.0
/**
 * Renders the API page of the library: each export of src/library/index.ts with its docstring.
 */
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');
const ENTRY = join(ROOT, 'src/library/index.ts');

/** File that `node build/library-docs.ts` writes. */
export const LIBRARY_API_PAGE = join(ROOT, 'docs/reference/library-api.md');

const HEAD = `# The API of the library

<!-- Made from the docstrings of src/library by \`make library-docs\`. Edit those, not this page. -->

Everything that \`import … from 'countersign'\` exports. [library.md](library.md) explains how it fits together.
`;

/**
 * Renders the page.
 *
 * @returns Markdown, formatted by Prettier
 * @throws Error for an export without a docstring
 */
export async function renderLibraryApi(): Promise<string> {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => undefined,
    },
  );
  const program = ts.createProgram([ENTRY], config?.options ?? {});
  const checker = program.getTypeChecker();
  const entry = program.getSourceFile(ENTRY);
  const module = entry && checker.getSymbolAtLocation(entry);
  if (module === undefined) throw new Error(`${ENTRY} exports nothing`);
  const symbols = checker.getExportsOfModule(module).map((each) => resolved(checker, each));
  const sections = symbols.map((symbol) => section(checker, symbol));
  const options = (await resolveConfig(LIBRARY_API_PAGE)) ?? {};
  return format([HEAD, ...sections].join('\n'), { ...options, parser: 'markdown' });
}

function resolved(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  return isAlias ? checker.getAliasedSymbol(symbol) : symbol;
}

function section(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  const [declaration] = symbol.declarations ?? [];
  if (declaration === undefined) throw new Error(`${symbol.name} is declared nowhere`);
  const members = ts.isInterfaceDeclaration(declaration)
    ? membersOf(checker, declaration.members)
    : '';
  return [
    `## ${symbol.name}\n`,
    textOf(checker, symbol),
    `\n\`\`\`ts\n${signatureOf(declaration)}\n\`\`\`\n`,
    members,
  ].join('\n');
}

/** Returns the declaration without its body, its comments and `export`. */
function signatureOf(declaration: ts.Declaration): string {
  if (ts.isFunctionDeclaration(declaration)) return functionSignature(declaration);
  if (ts.isClassDeclaration(declaration)) return classSignature(declaration);
  if (ts.isInterfaceDeclaration(declaration)) return interfaceSignature(declaration);
  return withoutComments(declaration.getText()).replace(/^export\s+/, '');
}

function functionSignature({
  name,
  typeParameters,
  parameters,
  type,
}: ts.FunctionDeclaration): string {
  const result = type?.getText() ?? 'void';
  return `function ${name?.text ?? ''}${genericsOf(typeParameters)}(${listed(parameters)}): ${result}`;
}

function classSignature({ name, members }: ts.ClassDeclaration): string {
  const parameters = members.find(ts.isConstructorDeclaration)?.parameters;
  return `class ${name?.text ?? ''} extends Error {\n  constructor(${listed(parameters)})\n}`;
}

function interfaceSignature(declaration: ts.InterfaceDeclaration): string {
  const { name, typeParameters, heritageClauses } = declaration;
  return `interface ${name.text}${genericsOf(typeParameters)} ${listed(heritageClauses)}`.trim();
}

function genericsOf(parameters: readonly ts.Node[] | undefined): string {
  return parameters === undefined ? '' : `<${listed(parameters)}>`;
}

function listed(nodes: readonly ts.Node[] = []): string {
  return nodes.map((node) => node.getText()).join(', ');
}

function membersOf(checker: ts.TypeChecker, members: readonly ts.TypeElement[]): string {
  const rows = members.filter(ts.isPropertySignature).map((member) => {
    const symbol = checker.getSymbolAtLocation(member.name);
    const type = onOneLine(withoutComments(member.type?.getText() ?? ''));
    const doc = symbol === undefined ? '' : textOf(checker, symbol).replaceAll(/\s+/g, ' ');
    const optional = member.questionToken === undefined ? '' : '?';
    return `| \`${member.name.getText()}${optional}\` | \`${type.replaceAll('|', '\\|')}\` | ${doc.replaceAll('|', '\\|')} |`;
  });
  return rows.length === 0 ? '' : `| field | type | |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** Joins the lines of a type. Parameters that Prettier wraps lose their last comma. */
function onOneLine(type: string): string {
  return type.replaceAll(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(/,? \)/g, ')');
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\/\s*/g, '');
}

/** Returns the docstring and its tags as a paragraph and a list. */
function textOf(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  const text = plain(ts.displayPartsToString(symbol.getDocumentationComment(checker)));
  if (text === '') throw new Error(`${symbol.name} has no docstring`);
  const tags = symbol.getJsDocTags(checker).map(({ name, text: parts }) => {
    const said = plain(ts.displayPartsToString(parts)).replace(/^(\w+) - /, '`$1`: ');
    return `- ${{ param: '', returns: 'Returns: ', throws: 'Throws: ' }[name] ?? `${name}: `}${said}`;
  });
  return [text, ...(tags.length === 0 ? [] : ['', ...tags])].join('\n');
}

/** Turns links into code, and joins the lines of a docstring. */
function plain(text: string): string {
  return text
    .replaceAll(/\{@link ([^}]+)\}/g, (_link, name: string) => `\`${name.trim()}\``)
    .replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
}
