// SPDX-License-Identifier: Apache-2.0
/** Each reason that a user may read in an ACME object has a row that says what to do. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { CHALLENGE_STATUS } from '#api/acme/challenge.ts';
import { CA_UNUSABLE, WRONG_CERTIFICATE } from '#api/acme/order.ts';
import { PROBLEM_TYPES, type ProblemType } from '#acme/protocol/answer.ts';
import { isFinalChallenge } from '#acme/orders/status.ts';
import { judge } from '#acme/orders/verdict.ts';
import { readSources } from './sources.ts';
import { parseText } from './syntax.ts';

const REFERENCE = join(import.meta.dirname, '../../docs/reference');
const PAGES = ['acme.md', 'acme-solving.md', 'acme-solvers.md'];
const REMEDY = 'What to do';

/** How a remedy begins: with what a person does, or that no person has to do anything. */
const BEGINNING =
  /^(?:Add|Allow|Annotate|Choose|Correct|Create|Delete|Grant|Have|Install|Name|Nothing|Put|Read|Remove|Renew|See|Set|Wait|Write)\b/;

/** Words of the source that look like a reason, by what they are. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  kinds: [
    'AcmeClusterSigner',
    'AcmeSigner',
    'AcmeSigners',
    'CertificateRequest',
    'CertificateSigningRequest',
    'Challenge',
    'ChallengePayload',
    'DeleteOptions',
    'HTTPRoute',
    'Ingress',
    'Order',
  ],
  conditions: ['Accepted', 'False', 'Issuing', 'KeyRolledOver', 'Ready', 'ResolvedRefs', 'True'],
  'Events that report a success, or a failure after the end': [
    'CleanupTimedOut',
    'Issued',
    'RenewalMoved',
    'Revoked',
  ],
  'types and actions of Events': [
    'CleanUp',
    'Normal',
    'OpenAccount',
    'Present',
    'Prove',
    'Renew',
    'Revoke',
    'Warning',
  ],
  'values of fields and headers': ['EdDSA', 'Exact', 'Location'],
};

/** Words such as `NotPropagated` in the literals of `src/acme`, without those of types. */
function wordsOfAcme(): ReadonlySet<string> {
  // The API has the reasons that `check` and `explain` read as well.
  const words = new Set<string>([WRONG_CERTIFICATE, CA_UNUSABLE]);
  for (const { path, text } of readSources()) {
    if (!path.startsWith('acme/')) continue;
    const visit = (node: ts.Node): void => {
      if (ts.isImportDeclaration(node) || ts.isLiteralTypeNode(node)) return;
      if (ts.isStringLiteral(node) && /^[A-Z][A-Za-z]*[a-z][A-Za-z]*$/.test(node.text))
        words.add(node.text);
      ts.forEachChild(node, visit);
    };
    visit(parseText(path, text));
  }
  return words;
}

/** Reasons that are made from what the ACME server says. */
function reasonsOfServer(): readonly string[] {
  const types: readonly ProblemType[] = [...PROBLEM_TYPES, 'other', 'none'];
  const verdicts = types.flatMap((type) =>
    ([400, 404, 500] as const).flatMap((status) =>
      (['newOrder', 'read', 'challenge', 'finalize', 'download'] as const).map((attempted) =>
        judge(
          { kind: 'problem', status, type, detail: '', subproblems: [] },
          {
            attempted,
            failures: 1,
            limits: 1,
            notFound: 1,
            uid: 'u',
            replaces: false,
            accountIsValid: false,
          },
        ),
      ),
    ),
  );
  const reasons = verdicts.flatMap((each) => ('reason' in each ? [each.reason] : []));
  // `failure` of challenge-events.ts.
  const states = CHALLENGE_STATUS.shape.state.unwrap().options;
  const ended = states
    .filter((state) => isFinalChallenge(state) && state !== 'valid')
    .map((state) => `Authorization${state.charAt(0).toUpperCase()}${state.slice(1)}`);
  return [...new Set([...reasons, ...ended])];
}

interface Row {
  readonly reasons: readonly string[];
  readonly remedy: string;
}

/** Rows of the tables of a page whose first column is the reason. */
function rowsOf(page: string): readonly Row[] {
  const rows: Row[] = [];
  let isTable = false;
  for (const line of readFileSync(join(REFERENCE, page), 'utf8').split('\n')) {
    const cells = line.split('|').map((each) => each.trim());
    if (cells[1] === 'Reason') isTable = true;
    else if (!line.startsWith('|')) isTable = false;
    else if (isTable && !/^-+$/.test(cells[1] ?? ''))
      rows.push({
        reasons: [...(cells[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
        remedy: cells.at(-2) ?? '',
      });
  }
  return rows;
}

const rows = PAGES.flatMap(rowsOf);
const explained = new Set(rows.flatMap(({ reasons }) => reasons));
const others = Object.values(OTHER_WORDS).flat();

test('each reason of the source of ACME has a row', () => {
  const words = [...wordsOfAcme()].filter((word) => !others.includes(word));
  assert.ok(words.length > 60, String(words.length));
  assert.deepEqual(
    words.filter((word) => !explained.has(word)),
    [],
  );
});

test('each reason that comes from the ACME server has a row', () => {
  const reasons = reasonsOfServer();
  assert.ok(reasons.includes('RejectedIdentifier') && reasons.includes('AuthorizationRevoked'));
  assert.deepEqual(
    reasons.filter((reason) => !explained.has(reason)),
    [],
  );
});

test('no row explains a reason that the source does not have', () => {
  const known = new Set([...wordsOfAcme(), ...reasonsOfServer()]);
  assert.deepEqual(
    [...explained].filter((reason) => !known.has(reason)),
    [],
  );
});

test('no word that is listed as another thing is out of use', () => {
  const words = wordsOfAcme();
  assert.deepEqual(
    others.filter((word) => !words.has(word)),
    [],
  );
});

test('each table of reasons ends with what to do', () => {
  const heads = PAGES.flatMap((page) =>
    [...readFileSync(join(REFERENCE, page), 'utf8').matchAll(/^\| Reason .*\|$/gm)].map(([head]) =>
      head.split('|').at(-2)?.trim(),
    ),
  );
  assert.ok(heads.length > 8, String(heads.length));
  assert.deepEqual([...new Set(heads)], [REMEDY]);
});

test('each row says what a person does, or that there is nothing to do', () => {
  assert.deepEqual(
    rows.filter(({ remedy }) => !BEGINNING.test(remedy)),
    [],
  );
});
