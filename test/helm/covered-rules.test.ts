// SPDX-License-Identifier: Apache-2.0
/**
 * A role keeps rules while old pods may need them. The operator decides that in TypeScript and the
 * chart in Helm's template language, because Helm runs no code of ours. They decide alike.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { withLiveRules } from '#kube/apply/objects/kept-rules.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { CHART, startHelm, type Helm } from './helm.ts';

type Rule = Readonly<Record<string, readonly string[]>>;

/** As many as give each combination of short lists. */
const PAIRS = 2_000;

const TEMPLATE = `
kind: Covers
covers:
{{- range .Values.pairs }}
  - {{ include "countersign.covers" (list .wide .narrow) | quote }}
{{- end }}
`;

let helm: Helm;
let chart: string;
before(async () => {
  helm = await startHelm();
  chart = mkdtempSync(join(tmpdir(), 'covers-'));
  mkdirSync(join(chart, 'templates'));
  copyFileSync(join(CHART, 'templates/_helpers.tpl'), join(chart, 'templates/_helpers.tpl'));
  writeFileSync(join(chart, 'templates/pairs.yaml'), TEMPLATE);
  writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: covers\nversion: 0.0.0\n');
});
after(() => {
  helm.close();
  rmSync(chart, { recursive: true });
});

const listOf = (...texts: readonly string[]): fc.Arbitrary<readonly string[]> =>
  fc.subarray([...texts]);
const rules: fc.Arbitrary<Rule> = fc.record(
  {
    apiGroups: listOf('', 'apps'),
    resources: listOf('pods', 'secrets'),
    verbs: listOf('get', 'list', '*'),
    resourceNames: listOf('a', 'b'),
    nonResourceURLs: listOf('/metrics'),
  },
  { requiredKeys: ['apiGroups', 'verbs'] },
);

function roleOf(rule: Rule): ManagedObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'x' },
    rules: [rule],
  };
}

test('the chart and the operator agree on whether one rule covers another', async () => {
  const pairs = fc.sample(fc.record({ wide: rules, narrow: rules }), { numRuns: PAIRS, seed: 7 });
  const { stdout } = await helm(['template', 'covers', chart], { pairs });
  const inChart = (parse(stdout) as { readonly covers: readonly string[] }).covers.map(Boolean);
  const here = pairs.map(
    ({ wide, narrow }) => withLiveRules(roleOf(wide), roleOf(narrow)) === undefined,
  );
  const apart = pairs.filter((_, index) => inChart[index] !== here[index]);
  assert.deepEqual(apart, []);
  assert.ok(here.filter(Boolean).length > PAIRS / 100, 'too few cover each other');
});
