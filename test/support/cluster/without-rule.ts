// SPDX-License-Identifier: Apache-2.0
/**
 * The law of a component that is left out by default: without a rule it says what it lacks, and it
 * heals.
 */
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import type { ComponentProcess } from './component-process.ts';
import { replace, type GrantedVerb } from './roles.ts';

const WAIT_MS = 120_000;

/** What is under test, once it runs. */
export interface Running {
  readonly cluster: Cluster;
  readonly component: ComponentProcess;
}

/** The roles in a file of `countersign rbac`. */
export function rolesIn(text: string): readonly GrantedVerb['role'][] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as GrantedVerb['role'])
    .filter(({ rules }) => rules !== undefined);
}

/**
 * Declares a test for each rule of the roles: without it the component is not ready, names each
 * verb, and heals.
 *
 * @param running - called in the tests
 */
export function eachRuleIsNeeded(
  component: string,
  roles: readonly GrantedVerb['role'][],
  running: () => Running,
): void {
  for (const role of roles) {
    const { rules = [] } = role;
    for (const rule of rules) {
      const { verbs, resources } = rule;
      const [resource = ''] = resources;
      // Kubernetes grants these reads to every ServiceAccount.
      if (resource === 'clustertrustbundles' && verbs.every((each) => READS.has(each))) continue;
      test(`${component} without ${resources.join()} (${role.kind}) is unready, then heals`, async () => {
        const { cluster, component: process } = running();
        await replace(cluster, { ...role, rules: rules.filter((each) => each !== rule) });
        await until('it says what is missing', WAIT_MS, async () => {
          const { status, text } = await process.readyz();
          const isNamed = (verb: string): boolean =>
            text
              .split('\n')
              .some((line) => line.includes(`lacks: ${verb} `) && line.includes(resource));
          return status === 503 && verbs.every(isNamed);
        });
        await replace(cluster, role);
        await process.ready(WAIT_MS);
      });
    }
  }
}

const READS = new Set(['get', 'list', 'watch']);
