// SPDX-License-Identifier: Apache-2.0
/**
 * Our CEL against Kubernetes' own: the same expressions in ValidatingAdmissionPolicies, which the
 * API server evaluates with the libraries that its users know.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { compileExpression } from '#cel/compile.ts';
import { selfOf } from '#cel/environments.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { request } from '../cel/request.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { inShortOrLong } from '../oracle/length.ts';
import { FAMILIES, inputsOf } from '../support/cel/inputs.ts';
import { ERRORS, TRUE } from '../support/cel/expressions.ts';
import { VERSION } from '../support/cluster/fixture.ts';

const WAIT_MS = 120_000;
/** Texts of a family; 2,400 of each in a run with ORACLE=long. */
const INPUTS = inShortOrLong(144, 2400);
/** What a policy says has at most 5 KiB (messageExpression). */
const BATCH = 24;

let cluster: Cluster;
before(async () => {
  cluster = await startCluster({ version: VERSION, nodes: 0 });
});
after(() => cluster.stop());

const FAILED =
  /resulted in error|evaluation error|program instantiation failed|error during formatting|out of range|too many arguments/;

interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
}

/** A policy about ConfigMaps whose name begins with its own. */
async function createPolicy(
  name: string,
  action: 'Deny' | 'Warn',
  validations: readonly Validation[],
): Promise<void> {
  const head = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } };
  const policy = {
    ...head,
    kind: 'ValidatingAdmissionPolicy',
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['configmaps'],
          },
        ],
      },
      matchConditions: [{ name: 'own', expression: `object.metadata.name.startsWith('${name}.')` }],
      validations,
    },
  };
  const binding = {
    ...head,
    kind: 'ValidatingAdmissionPolicyBinding',
    spec: { policyName: name, validationActions: [action] },
  };
  const both = { apiVersion: 'v1', kind: 'List', items: [policy, binding] };
  await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(both) });
}

/** What the API server says when such a ConfigMap is tried: of a refusal, or as warnings. */
async function tryOut(policy: string, inputs: readonly string[] = []): Promise<string> {
  const map = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${policy}.x`, namespace: 'default' },
    data: { inputs: inputs.join('|') },
  };
  const { stderr } = await cluster.kubectl(['create', '--dry-run=server', '-f', '-'], {
    input: JSON.stringify(map),
    allowFailure: true,
  });
  return stderr;
}

/** As {@link tryOut}, once the policy is in effect. */
function inEffect(policy: string, inputs: readonly string[] = []): Promise<string> {
  return until(`the policy ${policy} is in effect`, WAIT_MS, async () => {
    const said = await tryOut(policy, inputs);
    return said.includes(policy) ? said : undefined;
  });
}

test('every CEL expression that is true for us is true for the API server', async () => {
  const canary = { expression: 'false', message: 'the canary sings' };
  const rows = TRUE.map((expression, row) => ({ expression, message: `row ${row} is not true` }));
  await createPolicy('true', 'Warn', [...rows, canary]);
  const warnings = (await inEffect('true')).trim().split('\n');
  assert.deepEqual(
    warnings.map((each) => each.replace(/^.*: /, '')),
    ['the canary sings'],
  );
});

/** Policies take their time to come into effect: several are waited for at once. */
const TOGETHER = { concurrency: 8 };

describe('what is an error for us is one for the API server', TOGETHER, () => {
  for (const [row, expression] of ERRORS.entries()) {
    test(expression, async () => {
      const name = `error-${row}`;
      // What is the same for every object is found out at once.
      const said = await createPolicy(name, 'Deny', [{ expression, message: 'it is false' }]).then(
        () => inEffect(name),
        String,
      );
      assert.match(said, FAILED);
      assert.doesNotMatch(said, /no matching overload|undeclared/);
    });
  }
});

/** Where one of them is an error there is no answer to any, so they are asked one by one. */
async function answers(policy: string, inputs: readonly string[]): Promise<readonly string[]> {
  const said = await inEffect(policy, inputs);
  const found = /<<(.*)>>/s.exec(said)?.[1]?.split('|');
  if (found?.length === inputs.length) return found;
  if (inputs.length === 1) return ['an error'];
  const one: string[] = [];
  for (const input of inputs) one.push(...(await answers(policy, [input])));
  return one;
}

describe('the functions say the same as the API server’s', TOGETHER, () => {
  for (const [name, family] of Object.entries(FAMILIES)) {
    test(`${name} gives the API server's result for ${INPUTS} texts`, async () => {
      const { expression } = family;
      const loop = `object.data.inputs.split('|').map(self, ${expression})`;
      await createPolicy(name, 'Deny', [
        { expression: 'false', messageExpression: `'<<' + ${loop}.join('|') + '>>'` },
      ]);
      const ours = compileExpression({
        source: expression,
        where: 'here',
        environment: selfOf('commonName'),
        result: 'string',
      });
      const inputs = inputsOf(family, INPUTS);
      const differences: string[] = [];
      for (let begin = 0; begin < INPUTS; begin += BATCH) {
        const batch = inputs.slice(begin, begin + BATCH);
        const theirs = await answers(name, batch);
        for (const [index, self] of batch.entries()) {
          const found = attempt(() => ours.evaluate({ ...request({}), self }));
          const own = found instanceof SignerError ? 'an error' : found;
          if (own === theirs[index] || (family.stricter && own === '-')) continue;
          differences.push(
            `${JSON.stringify(self)}: ${own}, and the API server ${theirs[index] ?? ''}`,
          );
        }
      }
      assert.deepEqual(differences, []);
    });
  }
});
