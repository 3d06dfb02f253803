// SPDX-License-Identifier: Apache-2.0
/** What the laws of the house read from a file's syntax. */
import { readFileSync } from 'node:fs';
import ts from 'typescript';

const parsed = new Map<string, ts.SourceFile>();

/** Returns a file's syntax. Several laws read the same files, and each file is parsed once. */
export function parseFile(path: string): ts.SourceFile {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const tree = parseText(path, readFileSync(path, 'utf8'));
  parsed.set(path, tree);
  return tree;
}

export function parseText(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** Names of types in the signatures of what a file exports. */
export function namedInSignatures(tree: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isTypeReferenceNode(node)) names.add(node.typeName.getText(tree));
    if (ts.isExpressionWithTypeArguments(node)) names.add(node.expression.getText(tree));
    if (ts.isBlock(node)) return;
    ts.forEachChild(node, visit);
  };
  for (const statement of tree.statements) if (isExported(statement)) visit(statement);
  return names;
}

export function declared(statement: ts.Statement): readonly { name: string; type: boolean }[] {
  if (ts.isVariableStatement(statement)) {
    const names = statement.declarationList.declarations.flatMap(({ name }) => bound(name));
    return names.map((name) => ({ name, type: false }));
  }
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
    return [{ name: statement.name.text, type: true }];
  }
  const isNamed = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement);
  return isNamed ? [{ name: statement.name?.text ?? '', type: false }] : [];
}

/** The names that a declaration binds: one, or those of a pattern. */
function bound(name: ts.BindingName): readonly string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((each) => (ts.isBindingElement(each) ? bound(each.name) : []));
}

export function constantsOf(
  statement: ts.Statement,
  tree: ts.SourceFile,
): readonly { name: string; value: string }[] {
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations
    .map(({ name, initializer }) => ({
      name: name.getText(tree),
      value: initializer?.getText(tree).replace(/[\s_]+/g, '') ?? '',
    }))
    .filter(({ name, value }) => /^[A-Z0-9_]+$/.test(name) && /^[-\d.*+/()<]+$/.test(value));
}

export function isType(
  node: ts.Node,
): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node)
  );
}

export function isExported(node: ts.Statement): boolean {
  if (!ts.canHaveModifiers(node)) return false;
  const modifiers = ts.getModifiers(node) ?? [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

export function linesOf(node: ts.Node, tree: ts.SourceFile): number {
  const line = (position: number): number => tree.getLineAndCharacterOfPosition(position).line;
  return line(node.end) - line(node.getStart(tree)) + 1;
}

export function nameOf(node: ts.Node): string {
  const named = ts.getNameOfDeclaration(node as ts.Declaration);
  const holder = named ?? ts.getNameOfDeclaration(node.parent as ts.Declaration);
  return holder?.getText() ?? 'a function';
}

/** The words of a literal: elements of a list, keys of an object, members of a union. */
export function wordsOf(node: ts.Node): readonly string[] {
  if (ts.isArrayLiteralExpression(node))
    return node.elements.filter(ts.isStringLiteral).map(({ text }) => text);
  if (ts.isObjectLiteralExpression(node))
    return node.properties.flatMap(({ name }) =>
      name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? [name.text] : [],
    );
  if (!ts.isUnionTypeNode(node)) return [];
  return node.types.flatMap((type) =>
    ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? [type.literal.text] : [],
  );
}
