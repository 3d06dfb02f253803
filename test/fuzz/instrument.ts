// SPDX-License-Identifier: Apache-2.0
/**
 * Counts which branches of `src` run. Importing this file makes Node load every later module of
 * `src` with a counter at the head of each function, branch, case and operand that may be skipped.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';

/** Branches of all of src are far fewer; a power of two. */
export const EDGES = 1 << 17;

/** How often each branch ran since it was last cleared, modulo 256. */
export const counters = new Uint8Array(EDGES);

const SRC = pathToFileURL(join(import.meta.dirname, '../../src/')).href;
const COUNTERS = '__fuzzCounters';

let next = 0;

Object.defineProperty(globalThis, COUNTERS, { value: counters });

registerHooks({
  load: (url, context, nextLoad) => {
    if (!url.startsWith(SRC) || !url.endsWith('.ts')) return nextLoad(url, context);
    const text = readFileSync(fileURLToPath(url), 'utf8');
    return { format: 'module', source: instrumented(text), shortCircuit: true };
  },
});

/** How many branches the modules that are loaded have. */
export function branches(): number {
  return next;
}

function instrumented(text: string): string {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
    transformers: { before: [counting] },
  });
  return outputText;
}

const counting: ts.TransformerFactory<ts.SourceFile> = (context) => {
  const { factory } = context;
  const count = (): ts.Expression =>
    factory.createPostfixIncrement(
      factory.createElementAccessExpression(
        factory.createIdentifier(COUNTERS),
        factory.createNumericLiteral(next++ % EDGES),
      ),
    );
  const before = (expression: ts.Expression): ts.Expression =>
    factory.createParenthesizedExpression(factory.createComma(count(), expression));
  const visit = (node: ts.Node): ts.Node => {
    const seen = ts.visitEachChild(node, visit, context);
    if (ts.isBlock(seen)) {
      const first = factory.createExpressionStatement(count());
      return factory.updateBlock(seen, [first, ...seen.statements]);
    }
    if (ts.isCaseOrDefaultClause(seen)) return counted(seen);
    if (ts.isConditionalExpression(seen)) {
      const { condition, questionToken, whenTrue, colonToken, whenFalse } = seen;
      return factory.updateConditionalExpression(
        ...([seen, condition, questionToken, before(whenTrue)] as const),
        ...([colonToken, before(whenFalse)] as const),
      );
    }
    if (ts.isBinaryExpression(seen) && isSkipping(seen.operatorToken.kind)) {
      return factory.updateBinaryExpression(
        seen,
        seen.left,
        seen.operatorToken,
        before(seen.right),
      );
    }
    if (ts.isArrowFunction(seen) && !ts.isBlock(seen.body)) {
      const { modifiers, typeParameters, parameters, type, equalsGreaterThanToken, body } = seen;
      return factory.updateArrowFunction(
        ...([seen, modifiers, typeParameters, parameters] as const),
        ...([type, equalsGreaterThanToken, before(body)] as const),
      );
    }
    if (ts.isIfStatement(seen)) return blocks(seen);
    return seen;
  };
  /** A branch without braces gets them, and a counter. */
  const blocks = (node: ts.IfStatement): ts.Node => {
    const block = (statement: ts.Statement): ts.Statement =>
      ts.isBlock(statement) || ts.isIfStatement(statement)
        ? statement
        : factory.createBlock([factory.createExpressionStatement(count()), statement]);
    const otherwise = node.elseStatement && block(node.elseStatement);
    return factory.updateIfStatement(node, node.expression, block(node.thenStatement), otherwise);
  };
  const counted = (clause: ts.CaseOrDefaultClause): ts.Node => {
    const statements = [factory.createExpressionStatement(count()), ...clause.statements];
    return ts.isCaseClause(clause)
      ? factory.updateCaseClause(clause, clause.expression, statements)
      : factory.updateDefaultClause(clause, statements);
  };
  return (file) => ts.visitEachChild(file, visit, context);
};

function isSkipping(kind: ts.SyntaxKind): boolean {
  return [
    ts.SyntaxKind.AmpersandAmpersandToken,
    ts.SyntaxKind.BarBarToken,
    ts.SyntaxKind.QuestionQuestionToken,
  ].includes(kind);
}
