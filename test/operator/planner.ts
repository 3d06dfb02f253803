// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Countersign } from '#api/operator/countersign.ts';
import { apply } from '../support/cluster/apply.ts';
import { MAIN } from '../support/cluster/countersign.ts';
import { EXAMPLE, type Stand } from './stand.ts';

const NAME = 'planner';
const USER = `system:serviceaccount:default:${NAME}`;

interface Planned {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Somebody who may read everything, and write nothing. */
export interface Planner {
  /** Runs `countersign operator plan` with these flags. */
  plan(...flags: readonly string[]): Promise<Planned>;
  /** The same for a file with this spec. */
  planOf(spec: Countersign['spec']): Promise<Planned>;
  /** What of it was no read, by the audit log, taken or refused. */
  writes(): Promise<readonly string[]>;
}

/** @param command - the words and flags that every plan begins with */
export async function plannerOf(
  { cluster }: Pick<Stand, 'cluster'>,
  command: readonly string[] = ['operator', 'plan'],
): Promise<Planner> {
  const version = 'rbac.authorization.k8s.io/v1';
  const [apiGroup, kind] = ['rbac.authorization.k8s.io', 'ClusterRole'];
  await apply(
    cluster,
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace: 'default' } },
    {
      apiVersion: version,
      kind,
      metadata: { name: NAME },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }],
    },
    {
      apiVersion: version,
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME },
      roleRef: { apiGroup, kind, name: NAME },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: 'default' }],
    },
  );
  const kubeconfig = await cluster.serviceAccountKubeconfig('default', NAME);
  const plan = (...flags: readonly string[]): Promise<Planned> =>
    new Promise((resolve) => {
      const args = [MAIN, ...command, '--kubeconfig', kubeconfig];
      execFile(process.execPath, [...args, ...flags], (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  return {
    plan,
    planOf: (spec) => {
      const file = join(cluster.directory, 'planned.json');
      writeFileSync(file, JSON.stringify({ ...EXAMPLE, spec }));
      return plan('--file', file);
    },
    writes: async () =>
      (await cluster.readAudit())
        .filter(({ user, verb }) => user.username === USER && !['get', 'list'].includes(verb))
        .map(({ verb, requestURI }) => `${verb} ${requestURI}`),
  };
}
